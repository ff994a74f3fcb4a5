#include "aten_ops/kernels/triangular.h"

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

struct Matrices {
  int64_t batch, rows, columns;
};

class TriangularTest : public simt_checker::CheckedTest {
 protected:
  // From a transposed input to a dense output, then in place.
  template <class T>
  static void check(const Matrices& m, bool upper, int64_t k) {
    const int64_t n = m.batch * m.rows * m.columns;
    Buffer<T> input("input", whole_numbers<T>(n, 50));
    Buffer<T> output("output", n);
    Dims<2> dims{3,
                 {m.columns, m.rows, m.batch},
                 {{1, m.columns, m.rows * m.columns}, {m.rows, 1, m.rows * m.columns}}};
    triangular_kernels.triangle(dims, output.data(), input.data(), sizeof(T), upper, k, nullptr);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t column = i % m.columns;
      const int64_t row = i / m.columns % m.rows;
      const int64_t matrix = i / m.columns / m.rows * m.rows * m.columns;
      const bool kept = upper ? column - row >= k : column - row <= k;
      ASSERT_EQ(output[i], kept ? input[matrix + column * m.rows + row] : T(0)) << i;
    }
    const std::vector<T> once = output.to_vector();
    std::copy(dims.stride[0], dims.stride[0] + 3, dims.stride[1]);
    triangular_kernels.triangle(dims, output.data(), output.data(), sizeof(T), upper, k, nullptr);
    EXPECT_EQ(output.to_vector(), once);
  }
};

TEST_F(TriangularTest, KeepsOneSideOfADiagonal) {
  for (const Matrices& m : {Matrices{1, 1, 1}, {3, 5, 7}, {2, 33, 31}, {1, 3, 257}, {1, 129, 2}}) {
    for (const int64_t k : {-40, -1, 0, 2, 300}) {
      for (const bool upper : {false, true}) {
        check<float>(m, upper, k);
        check<uint8_t>(m, upper, k);
      }
    }
  }
}

TEST_F(TriangularTest, ElementsOfEveryWidth) {
  check<int16_t>({2, 33, 31}, true, 1);
  check<double>({2, 33, 31}, false, 1);
}

}  // namespace
}  // namespace anvil::kernels
