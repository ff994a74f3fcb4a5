#include "aten_ops/kernels/index.h"

#include <numeric>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

constexpr int64_t kTargets = 10;  // rows of the indexed tensor

// Rows of `columns` elements, chosen by index[rows]. Walked by position or by
// row, as the columns are few or many.
struct RowsTest : simt_checker::CheckedTest, testing::WithParamInterface<int64_t> {
  int64_t columns = GetParam();
  int64_t rows = 33;
  Buffer<int64_t> index{"index", std::vector<int64_t>(33)};
  Buffer<float> direct{"direct", whole_numbers(rows * columns)};
  Buffer<float> indexed{"indexed", whole_numbers(kTargets * columns, 8, 2)};

  RowsTest() {
    for (int64_t r = 0; r < rows; ++r) {
      index[r] = r * r % kTargets - (r % 2 == 0 ? 0 : kTargets);  // repeated, some negative
    }
  }
  int64_t target(int64_t row) const { return (index[row] + kTargets) % kTargets; }

  IndexWalk walk() const {
    IndexWalk w;
    w.ndim = 2;
    w.size[0] = columns;
    w.size[1] = rows;
    w.direct = direct.data();
    w.direct_stride[0] = sizeof(float);
    w.direct_stride[1] = columns * sizeof(float);
    w.indexed = indexed.data();
    w.indexed_stride[0] = sizeof(float);
    w.nindices = 1;
    w.wraps = true;
    w.index[0] = index.data();
    w.index_stride[0][1] = sizeof(int64_t);
    w.bound[0] = kTargets;
    w.step[0] = columns * sizeof(float);
    return w;
  }
  std::vector<float> sums() const {
    std::vector<float> result = indexed.to_vector();
    for (int64_t i = 0; i < rows * columns; ++i) {
      result[target(i / columns) * columns + i % columns] += direct[i];
    }
    return result;
  }
};

TEST_P(RowsTest, GatherTakesTheRowsThatTheIndexNames) {
  index_kernels.gather(walk(), sizeof(float), nullptr);
  for (int64_t i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(direct[i], indexed[target(i / columns) * columns + i % columns]) << i;
  }
}

TEST_P(RowsTest, ScatterToDistinctRows) {
  rows = kTargets;
  for (int64_t r = 0; r < rows; ++r) {
    index[r] = r * 3 % kTargets;
  }
  index_kernels.scatter(walk(), sizeof(float), nullptr);
  for (int64_t i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(indexed[target(i / columns) * columns + i % columns], direct[i]) << i;
  }
}

TEST_P(RowsTest, SumsInRepeatedRowsAreAtomic) {
  const std::vector<float> expected = sums();
  simt_checker::set_order_seed(1);
  index_kernels.scatter_reduce(walk(), ScalarType::Float, ScatterReduction::kAdd, nullptr);
  EXPECT_EQ(indexed.to_vector(), expected);
}

TEST_P(RowsTest, SumsInOrderNeedNoAtomics) {
  const std::vector<float> expected = sums();
  simt_checker::set_order_seed(2);
  Buffer<int64_t> offsets("offsets", rows);
  index_kernels.row_offsets(walk(), -1, offsets.data(), nullptr);
  index_kernels.scatter_in_order(walk(), ScalarType::Float, true, offsets.data(), nullptr);
  EXPECT_EQ(indexed.to_vector(), expected);
}

INSTANTIATE_TEST_SUITE_P(Columns, RowsTest, testing::Values(1, 5, 31, 33, 65, 257));

}  // namespace
}  // namespace anvil::kernels
