// Philox4x32-10, the counter-based generator of CUDA's device random numbers,
// with CUDA's use of counter and key.
//
// Algorithm: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011. Use of the counter: cuRAND documentation, "Philox_4x32_10
// generator", and what curand_init(seed, subsequence, offset) sets up.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/macros.h"

namespace anvil::kernels {

// Seed and offset of a launch, as GeneratorImpl::philox_engine_inputs() gives
// them. The offset counts single 32-bit draws of a thread and is a multiple of 4.
struct PhiloxState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

struct Uint4 {
  uint32_t x, y, z, w;
};

// Ten rounds of Philox on `counter` with the key (key_x, key_y).
ANVIL_DEVICE Uint4 philox4x32_10(Uint4 counter, uint32_t key_x, uint32_t key_y) {
  ANVIL_UNROLL
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * counter.x;
    const uint64_t b = static_cast<uint64_t>(0xCD9E8D57u) * counter.z;
    counter = {static_cast<uint32_t>(b >> 32) ^ counter.y ^ key_x, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter.w ^ key_y, static_cast<uint32_t>(a)};
    key_x += 0x9E3779B9u;
    key_y += 0xBB67AE85u;
  }
  return counter;
}

// The `call`th group of four draws of CUDA's thread `thread` in a launch:
// curand4() after curand_init(seed, thread, offset) and `call` earlier calls.
ANVIL_DEVICE Uint4 philox_draw(PhiloxState state, uint64_t thread, uint64_t call) {
  const uint64_t position = state.offset / 4 + call;
  return philox4x32_10({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                        static_cast<uint32_t>(thread), static_cast<uint32_t>(thread >> 32)},
                       static_cast<uint32_t>(state.seed), static_cast<uint32_t>(state.seed >> 32));
}

// Uniform on (0, 1], as curand_uniform() makes it: x * 2^-32 + 2^-33.
ANVIL_DEVICE float uniform_float(uint32_t x) {
  constexpr float kScale = 1.0f / 4294967296.0f;
  return static_cast<float>(x) * kScale + kScale / 2;
}

// Uniform on (0, 1] with 53 random bits, as curand_uniform2_double() makes it
// of two draws: (x xor y * 2^21) * 2^-53 + 2^-54.
ANVIL_DEVICE double uniform_double(uint32_t x, uint32_t y) {
  constexpr double kScale = 1.0 / 9007199254740992.0;
  const uint64_t bits = static_cast<uint64_t>(x) ^ (static_cast<uint64_t>(y) << 21);
  return static_cast<double>(bits) * kScale + kScale / 2;
}

}  // namespace anvil::kernels
