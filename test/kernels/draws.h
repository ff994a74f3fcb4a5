// The numbers that a thread of CUDA's random kernels draws, one by one.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/random.h"

namespace anvil::kernels {

// Threads 0, 1, ... of a grid of `blocks`.
struct Draws {
  PhiloxState state;
  int64_t blocks;

  int64_t threads() const { return blocks * 256; }
  // The `n`th 32-bit number of a thread.
  uint32_t bits(int64_t thread, int64_t n) const {
    const Uint4 group = philox_draw(state, thread, n / 4);
    const uint32_t numbers[] = {group.x, group.y, group.z, group.w};
    return numbers[n % 4];
  }
  float uniform(int64_t thread, int64_t n) const {
    return static_cast<float>(bits(thread, n)) * 0x1p-32f + 0x1p-33f;
  }

  // Those for element `i` where a thread's numbers go to elements a grid apart.
  uint32_t bits_of(int64_t i) const { return bits(i % threads(), i / threads()); }
  float uniform_of(int64_t i) const { return uniform(i % threads(), i / threads()); }
  // 64-bit ones: two numbers each, the first of which is `high`.
  uint32_t high_of(int64_t i) const { return bits(i % threads(), i / threads() * 2); }
  uint32_t low_of(int64_t i) const { return bits(i % threads(), i / threads() * 2 + 1); }
  uint64_t bits64_of(int64_t i) const {
    return static_cast<uint64_t>(high_of(i)) << 32 | low_of(i);
  }
};

}  // namespace anvil::kernels
