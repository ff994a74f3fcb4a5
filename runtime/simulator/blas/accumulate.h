// The inner product of a tile: sum over k of a[i, k] * b[k, j].
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/simulator/blas/number.h"

namespace anvil::simulator::blas {

// A tile of sums and the slices of a and b that it is made from, both in the
// order in which they are read. Extents are padded with zeros to whole
// registers, so that the loops have no rest.
template <class Sum, class Operand>
class Tile {
 public:
  static constexpr int64_t kRows = 128, kColumns = 128, kDepth = 256;

  // Room for a product of these extents; larger ones take several tiles.
  Tile(int64_t m, int64_t n, int64_t k)
      : rows_(padded(std::min(m, kRows), kRowBlock)),
        columns_(padded(std::min(n, kColumns), kColumnBlock)),
        depth_(std::min(k, kDepth)),
        a_(rows_ * depth_),
        b_(columns_ * depth_),
        sums_(rows_ * columns_) {}

  void clear() { std::fill(sums_.begin(), sums_.end(), Sum{}); }

  // Slices to fill: a(p) holds column p of a's rows, b(j) row j of b's depth.
  void clear_slices() {
    std::fill(a_.begin(), a_.end(), Operand{});
    std::fill(b_.begin(), b_.end(), Operand{});
  }
  Operand* a(int64_t p) { return a_.data() + p * rows_; }
  Operand* b(int64_t j) { return b_.data() + j * depth_; }
  std::vector<Operand>& a_slice() { return a_; }
  std::vector<Operand>& b_slice() { return b_; }

  void accumulate(int64_t m, int64_t n, int64_t k) {
    for (int64_t j = 0; j < n; j += kColumnBlock) {
      for (int64_t i = 0; i < m; i += kRowBlock) {
        accumulate_block(i, j, k);
      }
    }
  }

  const Sum* sums(int64_t column) const { return sums_.data() + column * rows_; }

 private:
  static constexpr int64_t kRowBlock = 8, kColumnBlock = 4;

  static int64_t padded(int64_t extent, int64_t block) {
    return (extent + block - 1) / block * block;
  }

  // A block's sums stay in registers.
  void accumulate_block(int64_t row, int64_t column, int64_t k) {
    Sum block[kColumnBlock][kRowBlock];
    for (int64_t j = 0; j < kColumnBlock; ++j) {
      std::copy_n(sums_.data() + (column + j) * rows_ + row, kRowBlock, block[j]);
    }
    const Operand* a = a_.data() + row;
    const Operand* b = b_.data() + column * depth_;
    for (int64_t p = 0; p < k; ++p, a += rows_) {
      for (int64_t j = 0; j < kColumnBlock; ++j) {
        const Operand factor = b[j * depth_ + p];
        for (int64_t i = 0; i < kRowBlock; ++i) {
          multiply_add(block[j][i], a[i], factor);
        }
      }
    }
    for (int64_t j = 0; j < kColumnBlock; ++j) {
      std::copy_n(block[j], kRowBlock, sums_.data() + (column + j) * rows_ + row);
    }
  }

  int64_t rows_, columns_, depth_;
  std::vector<Operand> a_, b_;
  std::vector<Sum> sums_;
};

}  // namespace anvil::simulator::blas
