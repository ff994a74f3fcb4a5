#include "test/kernels/checked_elementwise.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class ElementwiseTest : public simt_checker::CheckedTest {};

TEST_F(ElementwiseTest, DenseFloatOfAnySizeAndAlignment) {
  for (const int64_t n : kOddSizes) {
    for (const int64_t offset : {0, 1}) {
      Buffer<float> a("a", whole_numbers(n + offset, 100, 1));
      Buffer<float> b("b", whole_numbers(n + offset, 100, 2));
      Buffer<float> out("out", n + offset);
      checked_add(make_iterator(ScalarType::Float, {n},
                                {{out.data() + offset, ScalarType::Float, {1}},
                                 {a.data() + offset, ScalarType::Float, {1}},
                                 {b.data() + offset, ScalarType::Float, {1}}}),
                  nullptr);
      for (int64_t i = offset; i < n + offset; ++i) {
        ASSERT_EQ(out[i], a[i] + b[i]) << n << " " << i;
      }
    }
  }
}

TEST_F(ElementwiseTest, DenseBFloat16InPlace) {
  for (const int64_t n : kOddSizes) {
    const auto values = whole_numbers<BFloat16>(n, 100);
    Buffer<BFloat16> a("a", values);
    checked_add(make_iterator(ScalarType::BFloat16, {n},
                              {{a.data(), ScalarType::BFloat16, {1}},
                               {a.data(), ScalarType::BFloat16, {1}},
                               {a.data(), ScalarType::BFloat16, {1}}}),
                nullptr);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(float(a[i]), 2 * float(values[i])) << n << " " << i;
    }
  }
}

TEST_F(ElementwiseTest, TransposedAndBroadcastOperandsOfOtherDtypes) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 5}, {33, 31}, {7, 129}}) {
    Buffer<float> out("out", rows * columns);
    Buffer<int64_t> a("a", whole_numbers<int64_t>(rows * columns));  // [columns, rows]
    Buffer<Half> b("b", whole_numbers<Half>(columns));
    checked_add(make_iterator(ScalarType::Float, {columns, rows},
                              {{out.data(), ScalarType::Float, {1, columns}},
                               {a.data(), ScalarType::Long, {rows, 1}},
                               {b.data(), ScalarType::Half, {1, 0}}}),
                nullptr);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        ASSERT_EQ(out[r * columns + c], float(a[c * rows + r]) + float(b[c]));
      }
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
