#include "aten_ops/kernels/copy.h"

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class CopyTest : public simt_checker::CheckedTest {};

TEST_F(CopyTest, TransposesMatricesOfAnySize) {
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{3, 5}, {16, 16}, {31, 33}, {65, 127}, {257, 17}}) {
    for (const int64_t batches : {1, 3}) {
      Buffer<float> in("in", normal_numbers(batches * rows * columns));  // [batches, columns, rows]
      Buffer<float> out("out", batches * rows * columns);
      copy_kernels.copy(
          make_iterator(ScalarType::Float, {columns, rows, batches},
                        {{out.data(), ScalarType::Float, {1, columns, rows * columns}},
                         {in.data(), ScalarType::Float, {rows, 1, rows * columns}}}),
          nullptr);
      for (int64_t b = 0; b < batches; ++b) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            ASSERT_EQ(out[(b * rows + r) * columns + c], in[(b * columns + c) * rows + r])
                << rows << " x " << columns;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
