// Team on the host: a block is one thread, its threads are lanes of loops that
// the compiler vectorises.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/pointer.h"

namespace anvil::kernels {

// The memory that the blocks of one launch share, one after another.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes)
      : data_(bytes == 0 ? nullptr : static_cast<char*>(std::aligned_alloc(64, round_up(bytes)))) {
    if (bytes != 0 && data_ == nullptr) {
      throw std::bad_alloc();
    }
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { std::free(data_); }
  char* data() const { return data_; }

 private:
  static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }
  char* data_;
};

class HostTeam {
 public:
  HostTeam(int64_t block, int64_t blocks, char* shared)
      : block_(block), blocks_(blocks), shared_(shared) {}

  ANVIL_DEVICE int64_t block() const { return block_; }
  ANVIL_DEVICE int64_t blocks() const { return blocks_; }

  template <class F>
  ANVIL_DEVICE void for_each(int64_t n, F f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      f(i);
    }
  }

  // Lane l takes the elements l, l + kLanes, ... of a chunk; lanes are combined
  // as a tree, and chunks pairwise. The rounding error of a sum of n elements so
  // grows with kChunk / kLanes + log2(n / kChunk) and not with n.
  template <class T, class Combine, class F>
  ANVIL_DEVICE T reduce(int64_t n, T identity, Combine combine, F f) {
    constexpr int kLanes = !std::is_arithmetic_v<T> ? 4 : sizeof(T) <= 4 ? 32 : 16;
    constexpr int64_t kChunk = kLanes * 128;
    T pairs[48];  // pairs[level]: 2^level chunks, where `chunks` has that bit
    int64_t chunks = 0;
    int64_t i = 0;
    while (n - i >= kLanes) {
      T lanes[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = f(i + lane);
      }
      const int64_t end = n - i < kChunk ? n - (n - i) % kLanes : i + kChunk;
      for (i += kLanes; i < end; i += kLanes) {
#pragma GCC ivdep
        for (int lane = 0; lane < kLanes; ++lane) {
          lanes[lane] = combine(lanes[lane], f(i + lane));
        }
      }
      for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int lane = 0; lane < width; ++lane) {
          lanes[lane] = combine(lanes[lane], lanes[lane + width]);
        }
      }
      T value = lanes[0];
      int level = 0;
      for (int64_t bits = chunks++; (bits & 1) != 0; bits >>= 1) {
        value = combine(pairs[level++], value);
      }
      pairs[level] = value;
    }
    T total = identity;
    for (int level = 0; (chunks >> level) != 0; ++level) {
      if (((chunks >> level) & 1) != 0) {
        total = combine(pairs[level], total);
      }
    }
    for (; i < n; ++i) {
      total = combine(total, f(i));
    }
    return total;
  }

  template <class X, class T, class Combine, class F>
  ANVIL_DEVICE T reduce_contiguous(const X* x, int64_t n, T identity, Combine combine, F f) {
    return reduce(n, identity, combine, [&](int64_t i) { return f(x[i], i); });
  }

  template <class T, class Combine, class Row, class F>
  ANVIL_DEVICE T reduce2d(int64_t outer, int64_t inner, T identity, Combine combine, Row row, F f) {
    T total = identity;
    for (int64_t o = 0; o < outer; ++o) {
      const auto of_row = row(o);
      total = combine(total,
                      reduce(inner, identity, combine, [&](int64_t i) { return f(of_row, o, i); }));
    }
    return total;
  }

  template <class T, class Combine, class Load, class Store>
  ANVIL_DEVICE void inclusive_scan(int64_t n, T identity, Combine combine, Load load, Store store) {
    T running = identity;
    for (int64_t i = 0; i < n; ++i) {
      running = combine(running, load(i));
      store(i, running);
    }
  }

  template <class T>
  ANVIL_DEVICE T* shared(int64_t n) {
    T* result = reinterpret_cast<T*>(shared_);
    shared_ += (static_cast<size_t>(n) * sizeof(T) + 15) / 16 * 16;
    return result;
  }

  ANVIL_DEVICE void sync() {}

  template <class F>
  ANVIL_DEVICE void once(F f) {
    f();
  }

  template <class F>
  ANVIL_DEVICE auto broadcast(F f) {
    return f();
  }

  ANVIL_DEVICE bool last_block(unsigned* counter) { return last_block(counter, blocks_); }

  ANVIL_DEVICE bool last_block(unsigned* counter, int64_t arrivals) {
    if (++*counter < static_cast<unsigned>(arrivals)) {
      return false;
    }
    *counter = 0;
    return true;
  }

  // A grid runs in one thread, so a plain update is enough; the empty asm keeps
  // for_each from vectorising over two updates of one element.
  template <class T>
  ANVIL_DEVICE void atomic_add(T* pointer, int64_t i, T value) {
    asm volatile("" ::: "memory");
    pointer[i] = static_cast<T>(pointer[i] + value);
  }

  template <class T, class F>
  ANVIL_DEVICE void atomic_update(T* pointer, int64_t i, F f) {
    asm volatile("" ::: "memory");
    pointer[i] = f(pointer[i]);
  }

 private:
  int64_t block_;
  int64_t blocks_;
  char* shared_;
};

using Team = HostTeam;

}  // namespace anvil::kernels
