#include "aten_ops/kernels/nonzero.h"

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class NonzeroTest : public simt_checker::CheckedTest {};

TEST_F(NonzeroTest, CountsPrefixesAndCoordinatesOfAMatrix) {
  constexpr int64_t kColumns = 7;
  for (const int64_t rows : {1, 5, 37, 143, 900}) {
    for (const uint64_t seed : {0, 1}) {
      simt_checker::set_order_seed(seed);
      const int64_t n = rows * kColumns;
      Buffer<int32_t> in("in", whole_numbers<int32_t>(n, 1));
      Buffer<int64_t> counts("counts", NonzeroKernels::blocks(n) + 1);
      nonzero_kernels.count(in.data(), ScalarType::Int, n, counts.data(), nullptr);
      Buffer<int64_t> prefix("prefix", n);
      nonzero_kernels.prefix(in.data(), ScalarType::Int, n, counts.data(), prefix.data(), nullptr);

      std::vector<int64_t> expected;  // [found, 2]
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(prefix[i], static_cast<int64_t>(expected.size()) / 2) << n << " " << i;
        if (in[i] != 0) {
          expected.push_back(i / kColumns);
          expected.push_back(i % kColumns);
        }
      }
      const int64_t found = static_cast<int64_t>(expected.size()) / 2;
      ASSERT_EQ(counts[counts.size() - 1], found);

      Buffer<int64_t> coordinates("coordinates", expected.size());
      const int64_t sizes[] = {rows, kColumns};
      nonzero_kernels.write(in.data(), ScalarType::Int, n, counts.data(), 2, sizes,
                            coordinates.data(), 2, 1, nullptr);
      ASSERT_EQ(coordinates.to_vector(), expected) << n;
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
