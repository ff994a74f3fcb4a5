#include "aten_ops/kernels/sort.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class SortTest : public simt_checker::CheckedTest {
 protected:
  // Runs that one block sorts, and one, two and three passes that merge them.
  static constexpr int64_t kLengths[] = {1, 2, 31, 33, 64, 65, 257, 1024, 1025, 3000, 5000};

  // Against a stable sort of positions, NaN last (first in descending order).
  template <class T>
  static void check(int64_t rows, int64_t length, bool descending, std::vector<T> values) {
    values[values.size() / 2] = std::numeric_limits<T>::has_quiet_NaN
                                    ? std::numeric_limits<T>::quiet_NaN()
                                    : values[values.size() / 2];
    constexpr ScalarType kDtype = scalar_type_of<T>;
    Buffer<T> in("in", values);
    Buffer<T> out("out", values.size());
    Buffer<int64_t> indices("indices", values.size());
    Buffer<char> scratch("scratch",
                         std::max<size_t>(1, sort_kernels.scratch_bytes(kDtype, rows, length)));
    sort_kernels.sort(in.data(), out.data(), indices.data(), kDtype, rows, length, descending,
                      scratch.data(), nullptr);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), in.begin(),
                           [](T a, T b) { return close(a, b, 0); }));
    std::vector<int64_t> order(length);
    for (int64_t row = 0; row < rows; ++row) {
      const T* x = in.data() + row * length;
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        const auto a = static_cast<double>(descending ? x[j] : x[i]);
        const auto b = static_cast<double>(descending ? x[i] : x[j]);
        return a < b || (std::isnan(b) && !std::isnan(a));
      });
      for (int64_t i = 0; i < length; ++i) {
        ASSERT_EQ(indices[row * length + i], order[i]) << length << " " << row << " " << i;
        ASSERT_TRUE(close(out[row * length + i], x[order[i]], 0)) << length << " " << i;
      }
    }
  }
};

TEST_F(SortTest, RowsOfFloatsWithTiesAndNaN) {
  for (const int64_t length : kLengths) {
    check<float>(2, length, false, whole_numbers(2 * length, 50));
    check<float>(2, length, true, whole_numbers(2 * length, 50));
  }
}

TEST_F(SortTest, OtherDtypesAndManyShortRows) {
  check<Half>(3, 1025, true, whole_numbers<Half>(3 * 1025, 100));
  check<double>(1, 257, false, whole_numbers<double>(257, 20));
  check<int64_t>(2, 1100, true, whole_numbers<int64_t>(2200, 9));
  check<uint8_t>(65, 3, false, whole_numbers<uint8_t>(195, 4));
  check<bool>(1, 33, true, whole_numbers<bool>(33, 1));
}

}  // namespace
}  // namespace anvil::kernels
