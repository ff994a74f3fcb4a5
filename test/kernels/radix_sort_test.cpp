#include "aten_ops/kernels/radix_sort.h"

#include <algorithm>
#include <numeric>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class RadixSortTest : public simt_checker::CheckedTest {};

TEST_F(RadixSortTest, SortsSignedKeysStably) {
  for (const int64_t n : {1, 2, 33, 257, 1025}) {
    simt_checker::set_order_seed(n);
    const auto values = whole_numbers<int32_t>(n, 50);
    Buffer<int32_t> keys("keys", values);
    Buffer<int32_t> sorted("sorted_keys", n);
    Buffer<int64_t> positions("positions", n);
    Buffer<int32_t> other("other_keys", n);
    Buffer<int64_t> other_positions("other_positions", n);
    Buffer<int64_t> counts("counts", RadixSort::count_size(n));
    RadixSort sort;
    sort.key_dtype = ScalarType::Int;
    sort.n = n;
    sort.bits = 32;
    sort.keys = keys.data();
    sort.sorted_keys = sorted.data();
    sort.positions = positions.data();
    sort.other_keys = other.data();
    sort.other_positions = other_positions.data();
    sort.counts = counts.data();
    radix_sort_kernels.sort(sort, nullptr);

    std::vector<int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int64_t a, int64_t b) { return values[a] < values[b]; });
    ASSERT_EQ(positions.to_vector(), expected) << n;
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(sorted[i], values[expected[i]]) << n << " " << i;
    }
    ASSERT_EQ(keys.to_vector(), values) << "the keys were changed";
  }
}

}  // namespace
}  // namespace anvil::kernels
