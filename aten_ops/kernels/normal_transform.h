// Normal numbers from uniform ones, by the steps of curand_normal().
#pragma once

#include <cmath>
#include <cstdint>

#include "aten_ops/kernels/philox.h"

namespace anvil::kernels {

struct Float2 {
  float x, y;
};
struct Double2 {
  double x, y;
};

// Box-Muller on two draws (Box, Muller 1958), in curand_normal4()'s order of
// operations. The device uses the approximate sine and cosine that cuRAND uses
// there, the host exact ones: the two differ by a few ULP, and by more only
// where the result is near zero.
ANVIL_DEVICE Float2 box_muller(uint32_t x, uint32_t y) {
  constexpr float kTwoPiScale = 2.3283064e-10f * 6.2831855f;
  const float u = uniform_float(x);
  const float v = static_cast<float>(y) * kTwoPiScale + kTwoPiScale / 2;
  const float radius = sqrtf(-2.0f * logf(u));
#if defined(__CUDA_ARCH__)
  float sine, cosine;
  __sincosf(v, &sine, &cosine);
  return {sine * radius, cosine * radius};
#else
  return {sinf(v) * radius, cosf(v) * radius};
#endif
}

// The same in double on four draws, as curand_normal2_double().
ANVIL_DEVICE Double2 box_muller_double(Uint4 draw) {
  constexpr double kScale = 1.0 / 9007199254740992.0;
  const double u = uniform_double(draw.x, draw.y);
  const uint64_t bits = static_cast<uint64_t>(draw.z) ^ (static_cast<uint64_t>(draw.w) << 21);
  const double v = static_cast<double>(bits) * (kScale * 2) + kScale;  // half turns
  const double radius = sqrt(-2.0 * log(u));
#if defined(__CUDA_ARCH__)
  double sine, cosine;
  sincospi(v, &sine, &cosine);
  return {sine * radius, cosine * radius};
#else
  constexpr double kPi = 3.141592653589793;
  return {sin(v * kPi) * radius, cos(v * kPi) * radius};
#endif
}

}  // namespace anvil::kernels
