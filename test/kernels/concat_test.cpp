#include "aten_ops/kernels/concat.h"

#include <array>
#include <memory>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class ConcatTest : public simt_checker::CheckedTest {
 protected:
  template <class T>
  static T number(int64_t row, int64_t column) {
    return static_cast<T>(row * 1000 + column + 1);
  }
  // The output has one column more than the inputs fill.
  template <class T, class Value>
  static void check(int64_t rows, const std::vector<int64_t>& lengths, Value value) {
    Concat concat;
    concat.rows = rows;
    std::vector<std::unique_ptr<Buffer<T>>> inputs;
    int64_t columns = 0;
    for (const int64_t length : lengths) {
      auto input = std::make_unique<Buffer<T>>("input", rows * length);
      for (int64_t i = 0; i < rows * length; ++i) {
        (*input)[i] = value(i / length, columns + i % length);
      }
      concat.input[concat.count] = input->data();
      concat.length[concat.count] = length;
      concat.column[concat.count] = columns;
      ++concat.count;
      columns += length;
      inputs.push_back(std::move(input));
    }
    concat.row_stride = columns + 1;
    Buffer<T> output("output", std::vector<T>(rows * concat.row_stride));
    concat.output = output.data();
    concat_kernels.concat(concat, sizeof(T), nullptr);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column <= columns; ++column) {
        ASSERT_EQ(output[row * concat.row_stride + column],
                  column < columns ? value(row, column) : T{})
            << row << " " << column;
      }
    }
  }
};

TEST_F(ConcatTest, ShortAndLongRowsOfEveryWidth) {
  const std::vector<int64_t> short_rows = {1, 33, 7, 0, 127};
  const std::vector<int64_t> long_rows = {128, 1025, 257};
  for (const auto& lengths : {short_rows, long_rows, {1}, {3000}}) {
    check<uint8_t>(3, lengths, number<uint8_t>);
    check<int16_t>(33, lengths, number<int16_t>);
    check<int32_t>(1, lengths, number<int32_t>);
    check<int64_t>(5, lengths, number<int64_t>);
    using Wide = std::array<int64_t, 2>;
    check<Wide>(2, lengths, [](int64_t row, int64_t column) { return Wide{row + 1, column}; });
  }
}

}  // namespace
}  // namespace anvil::kernels
