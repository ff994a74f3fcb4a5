#include "aten_ops/kernels/range.h"

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class RangeTest : public simt_checker::CheckedTest {};

TEST_F(RangeTest, ArangeOfIntegersAndFloatsOfAnySize) {
  for (const int64_t n : kOddSizes) {
    Buffer<int64_t> integers("integers", n);
    range_kernels.arange(integers.data(), ScalarType::Long, n, int64_t{1} << 60, -3, nullptr);
    Buffer<float> floats("floats", n);
    range_kernels.arange(floats.data(), ScalarType::Float, n, 0.5, 0.25, nullptr);
    Buffer<Half> halves("halves", n);
    range_kernels.arange(halves.data(), ScalarType::Half, n, 0, 1, nullptr);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(integers[i], (int64_t{1} << 60) - 3 * i);
      ASSERT_EQ(floats[i], 0.5f + 0.25f * static_cast<float>(i));
      ASSERT_EQ(float(halves[i]), static_cast<float>(i));  // exact up to 2048
    }
  }
}

TEST_F(RangeTest, LinspaceHitsBothEnds) {
  for (const int64_t n : kOddSizes) {
    Buffer<double> out("out", n);
    range_kernels.linspace(out.data(), ScalarType::Double, n, -1.0, 0.7, nullptr);
    Buffer<int32_t> integers("integers", n);
    range_kernels.linspace(integers.data(), ScalarType::Int, n, 0, 4 * (n - 1), nullptr);
    for (int64_t i = 0; i < n; ++i) {
      const double expected = n == 1 ? -1.0 : -1.0 + 1.7 * i / (n - 1);
      ASSERT_NEAR(out[i], expected, 1e-15) << n << " " << i;
      ASSERT_EQ(integers[i], 4 * i) << n;
    }
    EXPECT_EQ(out[0], -1.0);
    EXPECT_EQ(out[n - 1], n == 1 ? -1.0 : 0.7);
  }
}

}  // namespace
}  // namespace anvil::kernels
