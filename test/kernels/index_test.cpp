#include "aten_ops/kernels/index.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

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

TEST_P(RowsTest, InOrderTheLastRowWinsAndTheSkippedOneIsLeft) {
  constexpr int64_t kSkipped = 4;
  std::vector<float> expected = indexed.to_vector();
  for (int64_t r = 0; r < rows; ++r) {
    index[r] = target(r);
    if (index[r] != kSkipped) {
      std::copy_n(direct.data() + r * columns, columns, expected.data() + index[r] * columns);
    }
  }
  Buffer<int64_t> offsets("offsets", rows);
  index_kernels.row_offsets(walk(), kSkipped, offsets.data(), nullptr);
  index_kernels.scatter_in_order(walk(), ScalarType::Float, false, offsets.data(), nullptr);
  EXPECT_EQ(indexed.to_vector(), expected);
}

TEST_P(RowsTest, AnIndexOutOfRangeFailsTheLaunch) {
  for (const int64_t bad : {kTargets, -kTargets - 1}) {
    index[32] = bad;
    EXPECT_THROW(index_kernels.gather(walk(), sizeof(float), nullptr), std::logic_error);
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, RowsTest, testing::Values(1, 5, 31, 33, 65, 257));

// Elements of an indexed vector of kTargets that meet others: 1000 positions, or
// one value for all.
template <class T>
struct ReductionTest : simt_checker::CheckedTest {
  template <class F>
  void check(ScatterReduction reduction, bool immediate, F combine) {
    constexpr int64_t kPositions = 1000;
    auto values = whole_numbers<T>(kPositions, 3);
    if (reduction == ScatterReduction::kMultiply) {
      for (T& value : values) {
        value = static_cast<T>(2 * value + 1);  // odd: no product is 0
      }
    }
    // A byte is combined within its word, which the array must hold.
    const auto before = whole_numbers<T>((kTargets + 3) / 4 * 4, 3, 2);
    Buffer<T> direct("direct", values);
    Buffer<T> indexed("indexed", before);
    Buffer<int64_t> index("index", kPositions);
    IndexWalk w;
    w.ndim = 1;
    w.size[0] = kPositions;
    w.direct = direct.data();
    w.direct_stride[0] = sizeof(T);
    w.direct_is_immediate = immediate;
    const T value = static_cast<T>(2);
    std::memcpy(w.immediate, &value, sizeof(T));
    w.indexed = indexed.data();
    w.nindices = 1;
    w.index[0] = index.data();
    w.index_stride[0][0] = sizeof(int64_t);
    w.bound[0] = kTargets;
    w.step[0] = sizeof(T);
    std::vector<T> expected = before;
    for (int64_t i = 0; i < kPositions; ++i) {
      index[i] = i * i % 7;
      expected[index[i]] = combine(expected[index[i]], immediate ? value : values[i]);
    }
    simt_checker::set_order_seed(3);
    index_kernels.scatter_reduce(w, scalar_type_of<T>, reduction, nullptr);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(close(indexed[i], expected[i], 0)) << i;
    }
  }
};

using Elements = testing::Types<float, double, Half, BFloat16, uint8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ReductionTest, Elements);

TYPED_TEST(ReductionTest, CombinesEveryValueOnceForEveryWidth) {
  using T = TypeParam;
  for (const bool immediate : {false, true}) {
    this->check(ScatterReduction::kMaximum, immediate, [](T a, T b) { return a < b ? b : a; });
    this->check(ScatterReduction::kMinimum, immediate, [](T a, T b) { return b < a ? b : a; });
  }
  if constexpr (std::is_integral_v<T>) {  // wraps around, in any order
    this->check(ScatterReduction::kMultiply, false, [](T a, T b) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    });
  }
  if constexpr (sizeof(T) > 2 || std::is_integral_v<T>) {  // exact: no more than 24 bits
    this->check(ScatterReduction::kAdd, false, [](T a, T b) { return static_cast<T>(a + b); });
  }
}

}  // namespace
}  // namespace anvil::kernels
