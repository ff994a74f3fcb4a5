// Team on a SIMT machine: CUDA's, and the checker's emulation of one.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/simt.h"

namespace anvil::kernels {

class SimtTeam {
 public:
  ANVIL_SIMT int64_t block() const { return simt::block(); }
  ANVIL_SIMT int64_t blocks() const { return simt::blocks(); }
  // Not of the contract of team.h: for the elementwise driver.
  ANVIL_SIMT int thread() const { return simt::thread(); }
  ANVIL_SIMT int threads() const { return simt::threads(); }

  template <class F>
  ANVIL_SIMT void for_each(int64_t n, F f) {
    for (int64_t i = simt::thread(); i < n; i += simt::threads()) {
      f(i);
    }
  }

  template <class T, class Combine, class F>
  ANVIL_SIMT T reduce(int64_t n, T identity, Combine combine, F f) {
    T value = identity;
    for (int64_t i = simt::thread(); i < n; i += simt::threads()) {
      value = combine(value, f(i));
    }
    return reduce_block(value, identity, combine);
  }

  // Loads of 16 bytes where `x` is aligned; each lane of the vector has its own
  // accumulator.
  template <class X, class T, class Combine, class F>
  ANVIL_SIMT T reduce_contiguous(const X* x, int64_t n, T identity, Combine combine, F f) {
    constexpr int kLanes = 16 / sizeof(X);
    T value = identity;
    int64_t i = 0;
    if constexpr (kLanes > 1) {
      const auto address = reinterpret_cast<uintptr_t>(x);
      const int64_t head = static_cast<int64_t>((16 - address % 16) % 16 / sizeof(X));
      if (address % sizeof(X) == 0 && head + kLanes <= n) {
        if (simt::thread() < head) {
          value = f(x[simt::thread()], int64_t{simt::thread()});
        }
        T lanes[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
          lanes[lane] = identity;
        }
        const int64_t vectors = (n - head) / kLanes;
        const auto* words = reinterpret_cast<const uint4*>(x + head);
        for (int64_t v = simt::thread(); v < vectors; v += simt::threads()) {
          const uint4 word = words[v];
          X elements[kLanes];
          memcpy(elements, &word, sizeof(word));
          for (int lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = combine(lanes[lane], f(elements[lane], head + v * kLanes + lane));
          }
        }
        for (int lane = 0; lane < kLanes; ++lane) {
          value = combine(value, lanes[lane]);
        }
        i = head + vectors * kLanes;
      }
    }
    for (i += simt::thread(); i < n; i += simt::threads()) {
      value = combine(value, f(x[i], i));
    }
    return reduce_block(value, identity, combine);
  }

  template <class T, class Combine, class Row, class F>
  ANVIL_SIMT T reduce2d(int64_t outer, int64_t inner, T identity, Combine combine, Row row, F f) {
    T value = identity;
    for (int64_t flat = simt::thread(); flat < outer * inner; flat += simt::threads()) {
      const int64_t o = divide(flat, inner);
      value = combine(value, f(row(o), o, flat - o * inner));
    }
    return reduce_block(value, identity, combine);
  }

  template <class T, class Combine, class Load, class Store>
  ANVIL_SIMT void inclusive_scan(int64_t n, T identity, Combine combine, Load load, Store store) {
    ANVIL_SHARED(T, of_warp, 32);
    const int lane = simt::thread() % 32;
    const int warp = simt::thread() / 32;
    T running = identity;
    for (int64_t begin = 0; begin < n; begin += simt::threads()) {
      const int64_t i = begin + simt::thread();
      T value = i < n ? load(i) : identity;
      for (int delta = 1; delta < 32; delta *= 2) {
        const T before = simt::shuffle_up(value, delta);
        if (lane >= delta) {
          value = combine(before, value);
        }
      }
      if (lane == 31) {
        of_warp[warp] = value;
      }
      simt::sync_threads();
      T tile = running;
      for (int w = 0; w < simt::threads() / 32; ++w) {
        if (w == warp) {
          value = combine(tile, value);
        }
        tile = combine(tile, of_warp[w]);
      }
      running = tile;
      if (i < n) {
        store(i, value);
      }
      simt::sync_threads();  // before the next use of of_warp
    }
  }

  template <class T>
  ANVIL_SIMT T* shared(int64_t n) {
    const size_t bytes = static_cast<size_t>(n) * sizeof(T);
    void* result = simt::dynamic_shared(shared_bytes_, bytes);
    shared_bytes_ += (bytes + 15) / 16 * 16;
    return static_cast<T*>(result);
  }

  ANVIL_SIMT void sync(simt::Site site = simt::Site::here()) { simt::sync_threads(site); }

  template <class F>
  ANVIL_SIMT void once(F f) {
    if (simt::thread() == 0) {
      f();
    }
  }

  template <class F>
  ANVIL_SIMT auto broadcast(F f) {
    using T = decltype(f());
    ANVIL_SHARED(T, slot, 1);
    if (simt::thread() == 0) {
      slot[0] = f();
    }
    simt::sync_threads();
    const T value = slot[0];
    simt::sync_threads();  // before the next use of the slot
    return value;
  }

  ANVIL_SIMT bool last_block(unsigned* counter) { return last_block(counter, blocks()); }

  ANVIL_SIMT bool last_block(unsigned* counter, int64_t arrivals) {
    simt::fence();  // this thread's writes, before the block counts as arrived
    simt::sync_threads();
    const bool last = broadcast([&] {
      const bool is_last = simt::atomic_increment(counter) + 1 == arrivals;
      if (is_last) {
        simt::relaxed_store(counter, 0u);
      }
      return is_last;
    });
    simt::fence();
    return last;
  }

  template <class T>
  ANVIL_SIMT void atomic_add(T* pointer, int64_t i, T value) {
    simt::atomic_add(pointer + i, value);
  }

  template <class T, class F>
  ANVIL_SIMT void atomic_update(T* pointer, int64_t i, F f) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    using Word =
        std::conditional_t<sizeof(T) == 2, unsigned short,
                           std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>>;
    Word* word = reinterpret_cast<Word*>(pointer + i);
    Word expected = simt::relaxed_load(word);
    while (true) {
      T value;
      memcpy(&value, &expected, sizeof(T));
      value = f(value);
      Word desired;
      memcpy(&desired, &value, sizeof(T));
      const Word found = simt::compare_and_swap(word, expected, desired);
      if (found == expected) {
        return;
      }
      expected = found;
    }
  }

 private:
  // Combines one value of each thread; every thread gets the result.
  template <class T, class Combine>
  ANVIL_SIMT static T reduce_block(T value, T identity, Combine combine) {
    value = reduce_warp(value, combine);
    ANVIL_SHARED(T, of_warp, 32);
    if (simt::thread() % 32 == 0) {
      of_warp[simt::thread() / 32] = value;
    }
    simt::sync_threads();
    const int lane = simt::thread() % 32;
    value = lane < simt::threads() / 32 ? of_warp[lane] : identity;
    value = reduce_warp(value, combine);
    simt::sync_threads();  // before the next use of of_warp
    return value;
  }

  template <class T, class Combine>
  ANVIL_SIMT static T reduce_warp(T value, Combine combine) {
    for (int mask = 16; mask > 0; mask /= 2) {
      value = combine(value, simt::shuffle_xor(value, mask));
    }
    return value;
  }

  size_t shared_bytes_ = 0;
};

using Team = SimtTeam;

}  // namespace anvil::kernels
