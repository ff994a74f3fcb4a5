#include "aten_ops/kernels/scan.h"

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

// Rows of a block, columns of a tile.
constexpr ScanShape kShapes[] = {{1, 1, 1},    {3, 31, 1}, {2, 65, 1},  {1, 1000, 1},
                                 {2, 1025, 1}, {2, 33, 5}, {1, 7, 129}, {3, 2, 257}};

class ScanTest : public simt_checker::CheckedTest {
 protected:
  // f(first element) for each line; elements are `inner` apart.
  template <class F>
  static void for_each_line(const ScanShape& shape, F f) {
    for (int64_t o = 0; o < shape.outer; ++o) {
      for (int64_t i = 0; i < shape.inner; ++i) {
        f(o * shape.length * shape.inner + i);
      }
    }
  }
};

TEST_F(ScanTest, RunningSumsOfWholeNumbersAreExactAlsoInPlace) {
  for (const ScanShape& shape : kShapes) {
    const auto values = whole_numbers(shape.outer * shape.length * shape.inner);
    Buffer<float> in("in", values);
    Buffer<float> out("out", values.size());
    scan_kernels.cumsum(in.data(), out.data(), ScalarType::Float, shape, nullptr);
    scan_kernels.cumsum(in.data(), in.data(), ScalarType::Float, shape, nullptr);
    for_each_line(shape, [&](int64_t line) {
      float sum = 0;
      for (int64_t k = 0; k < shape.length; ++k) {
        const int64_t at = line + k * shape.inner;
        sum += values[at];
        ASSERT_EQ(out[at], sum) << shape.length << " " << at;
        ASSERT_EQ(in[at], sum) << shape.length << " " << at;
      }
    });
  }
}

TEST_F(ScanTest, RunningMaximaAndTheirLastPositions) {
  for (const ScanShape& shape : kShapes) {
    const auto values = whole_numbers(shape.outer * shape.length * shape.inner);
    Buffer<float> in("in", values);
    Buffer<float> out("out", values.size());
    Buffer<int64_t> positions("positions", values.size());
    scan_kernels.cummax(in.data(), out.data(), positions.data(), ScalarType::Float, shape, nullptr);
    for_each_line(shape, [&](int64_t line) {
      int64_t best = 0;
      for (int64_t k = 0; k < shape.length; ++k) {
        const int64_t at = line + k * shape.inner;
        best = values[at] >= values[line + best * shape.inner] ? k : best;
        ASSERT_EQ(out[at], values[line + best * shape.inner]) << shape.length << " " << at;
        ASSERT_EQ(positions[at], best) << shape.length << " " << at;
      }
    });
  }
}

}  // namespace
}  // namespace anvil::kernels
