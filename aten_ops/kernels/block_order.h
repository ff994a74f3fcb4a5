// The order in which the host executors run the blocks of a grid.
#pragma once

#include <cstdint>

namespace anvil::kernels {

// 0 runs blocks in ascending order; any other value in an order made from it.
// Read once from ANVIL_BLOCK_ORDER. CUDA promises no order, so results may not
// depend on it.
uint64_t block_order_seed();

// A range over a permutation of [0, blocks): i -> (i * step + start) mod blocks
// with a step that is coprime to `blocks`.
class BlockOrder {
 public:
  explicit BlockOrder(int64_t blocks, uint64_t seed = block_order_seed()) : blocks_(blocks) {
    if (seed != 0 && blocks > 2) {
      start_ = static_cast<int64_t>(mix(seed) % static_cast<uint64_t>(blocks));
      step_ = static_cast<int64_t>(mix(seed + 1) % static_cast<uint64_t>(blocks)) | 1;
      while (greatest_common_divisor(step_, blocks) != 1) {
        ++step_;
      }
    }
  }

  class iterator {
   public:
    iterator(const BlockOrder* order, int64_t position, int64_t block)
        : order_(order), position_(position), block_(block) {}
    int64_t operator*() const { return block_; }
    iterator& operator++() {
      ++position_;
      block_ = (block_ + order_->step_) % order_->blocks_;
      return *this;
    }
    bool operator!=(const iterator& other) const { return position_ != other.position_; }

   private:
    const BlockOrder* order_;
    int64_t position_;
    int64_t block_;
  };
  iterator begin() const { return {this, 0, start_}; }
  iterator end() const { return {this, blocks_, 0}; }

 private:
  static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
      const int64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  // SplitMix64 (Steele, Lea, Flood 2014).
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  int64_t blocks_;
  int64_t start_ = 0;
  int64_t step_ = 1;
};

}  // namespace anvil::kernels
