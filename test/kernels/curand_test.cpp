// Draws and transforms against cuRAND's own device header, compiled for the
// host (its host branch uses exact sines where the device approximates).
#include <curand_kernel.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "aten_ops/kernels/normal_transform.h"
#include "aten_ops/kernels/philox.h"

namespace anvil::kernels {
namespace {

constexpr uint64_t kSeed = 0x9876543210;
constexpr uint64_t kOffset = 1 << 20;

curandStatePhilox4_32_10_t state_of(uint64_t thread) {
  curandStatePhilox4_32_10_t state;
  curand_init(kSeed, thread, kOffset, &state);
  return state;
}

template <class T, class Bits>
int64_t ulps(T a, T b) {
  Bits x, y;
  std::memcpy(&x, &a, sizeof(a));
  std::memcpy(&y, &b, sizeof(b));
  const auto order = [](Bits bits) {
    return bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits;
  };
  return std::abs(static_cast<int64_t>(order(x)) - static_cast<int64_t>(order(y)));
}

TEST(Curand, DrawsAndUniformNumbersAreEqual) {
  for (const uint64_t thread : {uint64_t{0}, uint64_t{1}, uint64_t{255}, uint64_t{1} << 40}) {
    auto integers = state_of(thread), floats = state_of(thread), doubles = state_of(thread);
    for (uint64_t call = 0; call < 100; ++call) {
      const Uint4 ours = philox_draw({kSeed, kOffset}, thread, call);
      const uint4 theirs = curand4(&integers);
      EXPECT_EQ(ours.x, theirs.x);
      EXPECT_EQ(ours.y, theirs.y);
      EXPECT_EQ(ours.z, theirs.z);
      EXPECT_EQ(ours.w, theirs.w);
      const float4 uniform = curand_uniform4(&floats);
      EXPECT_EQ(uniform_float(ours.x), uniform.x);
      EXPECT_EQ(uniform_float(ours.w), uniform.w);
      const double2 uniform2 = curand_uniform2_double(&doubles);
      EXPECT_EQ(uniform_double(ours.x, ours.y), uniform2.x);
      EXPECT_EQ(uniform_double(ours.z, ours.w), uniform2.y);
    }
  }
}

TEST(Curand, NormalNumbersAreWithinTwoUlp) {
  auto floats = state_of(3), doubles = state_of(3);
  int64_t worst = 0, worst_double = 0;
  for (uint64_t call = 0; call < 20000; ++call) {
    const Uint4 draw = philox_draw({kSeed, kOffset}, 3, call);
    const Float2 first = box_muller(draw.x, draw.y), second = box_muller(draw.z, draw.w);
    const float4 normal = curand_normal4(&floats);
    for (const auto& [ours, theirs] : {std::pair{first.x, normal.x},
                                       {first.y, normal.y},
                                       {second.x, normal.z},
                                       {second.y, normal.w}}) {
      worst = std::max(worst, ulps<float, int32_t>(ours, theirs));
    }
    const Double2 pair = box_muller_double(draw);
    const double2 normal2 = curand_normal2_double(&doubles);
    worst_double = std::max(worst_double, ulps<double, int64_t>(pair.x, normal2.x));
    worst_double = std::max(worst_double, ulps<double, int64_t>(pair.y, normal2.y));
  }
  EXPECT_LE(worst, 2);
  EXPECT_LE(worst_double, 2);
}

}  // namespace
}  // namespace anvil::kernels
