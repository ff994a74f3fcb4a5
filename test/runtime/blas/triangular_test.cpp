// cublas<t>trsm: the solution, multiplied back, is what it was solved for.
#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {
namespace {

struct Case {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t trans;
  cublasDiagType_t diagonal;
};

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    for (auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      for (auto trans : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        for (auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
          cases.push_back({side, fill, trans, diagonal});
        }
      }
    }
  }
  return cases;
}

// The triangle that the call may read, as a whole matrix.
std::vector<cuDoubleComplex> triangle(const std::vector<cuDoubleComplex>& memory,
                                      const Case& c,
                                      int order,
                                      int lda) {
  std::vector<cuDoubleComplex> result(order * order, cuDoubleComplex{0, 0});
  for (int j = 0; j < order; ++j) {
    for (int i = 0; i < order; ++i) {
      const bool inside = c.fill == CUBLAS_FILL_MODE_LOWER ? i > j : i < j;
      if (i == j) {
        result[i + j * order] =
            c.diagonal == CUBLAS_DIAG_UNIT ? cuDoubleComplex{1, 0} : memory[i + j * lda];
      } else if (inside) {
        result[i + j * order] = memory[i + j * lda];
      }
    }
  }
  return result;
}

// What a is outside of its triangle must not be read.
std::vector<cuDoubleComplex> coefficients(const Case& c, int order, int lda, unsigned seed) {
  std::vector<cuDoubleComplex> a = random_numbers<cuDoubleComplex>(lda * order, seed);
  for (int j = 0; j < order; ++j) {
    for (int i = 0; i < order; ++i) {
      if (i == j) {
        a[i + j * lda] = {8, 1};  // dominant
      } else if (c.fill == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) {
        a[i + j * lda] = {NAN, NAN};
      }
    }
  }
  return a;
}

void expect_solved(const Case& c,
                   const std::vector<cuDoubleComplex>& full,
                   int order,
                   const std::vector<cuDoubleComplex>& x,
                   const std::vector<cuDoubleComplex>& b,
                   int m,
                   int n,
                   int ldb,
                   int first,
                   cuDoubleComplex alpha) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const Exact product = inner_product(order, [&](int64_t p) {
        return c.side == CUBLAS_SIDE_LEFT
                   ? element(full, c.trans, i, p, order) * exact(x[first + p + j * ldb])
                   : exact(x[first + i + p * ldb]) * element(full, c.trans, p, j, order);
      });
      // Backward error of a solve of order 4 with coefficients up to 8; unit
      // triangles may grow the solution to some thousands.
      ASSERT_NEAR(0, std::abs(product - exact(alpha) * exact(b[first + i + j * ldb])), 1e-9)
          << c.side << c.fill << c.trans << c.diagonal << " " << i << "," << j;
    }
  }
}

TEST_F(BlasTest, trsm_solves_on_each_side_with_each_triangle) {
  const int m = 4, n = 3, ldb = 6;
  Handle handle;
  for (const Case& c : every_case()) {
    const int order = c.side == CUBLAS_SIDE_LEFT ? m : n, lda = order + 2;
    const Mirror a(coefficients(c, order, lda, 1));
    const Mirror b(random_numbers<cuDoubleComplex>(ldb * n, 2));
    const cuDoubleComplex alpha{2, -1};
    ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasZtrsm_v2(handle, c.side, c.fill, c.trans, c.diagonal,
                                                      m, n, &alpha, a.get(), lda, b.get(), ldb));
    expect_solved(c, triangle(a.host(), c, order, lda), order, b.read(), b.host(), m, n, ldb, 0,
                  alpha);
  }
}

TEST_F(BlasTest, trsm_of_a_batch_follows_the_pointers) {
  const Case c{CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT};
  const int m = 4, n = 2, batch = 3;
  const Mirror a(coefficients(c, m, m, 1)), b(random_numbers<cuDoubleComplex>(m * n * batch, 2));
  std::vector<const cuDoubleComplex*> as(batch, a.get());
  std::vector<cuDoubleComplex*> bs;
  for (int i = batch - 1; i >= 0; --i) {
    bs.push_back(b.get() + i * m * n);
  }
  const Mirror a_pointers(as);
  const Mirror b_pointers(bs);
  const cuDoubleComplex one{1, 0};
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasZtrsmBatched(handle, c.side, c.fill, c.trans, c.diagonal, m, n, &one,
                                 a_pointers.get(), m, b_pointers.get(), m, batch));
  const std::vector<cuDoubleComplex> x = b.read();
  for (int i = 0; i < batch; ++i) {
    expect_solved(c, triangle(a.host(), c, m, m), m, x, b.host(), m, n, m, i * m * n, one);
  }
}

TEST_F(BlasTest, trsm_checks_its_arguments) {
  DeviceArray<float> memory(16);
  const float one = 1;
  Handle handle;
  const auto call = [&](cublasFillMode_t fill, int lda, int ldb) {
    return cublasStrsm_v2(handle, CUBLAS_SIDE_LEFT, fill, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 3, 2, &one,
                          memory.get(), lda, memory.get(), ldb);
  };
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call(CUBLAS_FILL_MODE_FULL, 3, 3));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call(CUBLAS_FILL_MODE_LOWER, 2, 3));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call(CUBLAS_FILL_MODE_LOWER, 3, 2));
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, call(CUBLAS_FILL_MODE_LOWER, 3, 3));
}

}  // namespace
}  // namespace anvil::runtime::testing
