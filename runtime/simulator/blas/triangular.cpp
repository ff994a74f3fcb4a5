// Triangular systems: cublas<t>trsm and cublas<t>trsmBatched.
#include <algorithm>

#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/gemm.h"
#include "runtime/simulator/blas/work.h"

namespace anvil::simulator::blas {
namespace {

// op(a) @ x = alpha * b, solved in place of b. a is [m, m] and lower or upper
// triangular as op() leaves it; b is [m, n]. A system that stands on the right
// is this one, transposed.
template <class T>
struct Solve {
  int64_t m, n, batch;
  Scale alpha;
  Matrix a, b;
  bool is_lower, has_unit_diagonal;

  void operator()() const {
    for (int64_t index = 0; index < batch; ++index) {
      solve(matrix(a, index), matrix(b, index));
    }
  }

 private:
  static T* matrix(const Matrix& matrix, int64_t index) {
    return reinterpret_cast<T*>(
        matrix.batch == nullptr ? matrix.data : static_cast<char*>(translate(matrix.batch[index])));
  }

  T factor() const {
    if (alpha.device == nullptr) {
      return from_parts<T>(alpha.re, alpha.im);
    }
    return *reinterpret_cast<const T*>(alpha.device);
  }

  T coefficient(const T* from, int64_t i, int64_t j) const {
    const T value = from[i * a.row_stride + j * a.column_stride];
    return a.conjugate ? conjugate(value) : value;
  }

  void solve(const T* from, T* into) const {
    const T scale = factor();
    for (int64_t column = 0; column < n; ++column) {
      T* x = into + column * b.column_stride;
      for (int64_t step = 0; step < m; ++step) {
        const int64_t i = is_lower ? step : m - 1 - step;
        T& target = x[i * b.row_stride];
        // With alpha 0, neither a nor b is read.
        if (scale == T(0)) {
          target = T(0);
          continue;
        }
        T sum = scale * target;
        for (int64_t j = is_lower ? 0 : i + 1; j < (is_lower ? i : m); ++j) {
          sum = sum - coefficient(from, i, j) * x[j * b.row_stride];
        }
        target = has_unit_diagonal ? sum : sum / coefficient(from, i, i);
      }
    }
  }
};

struct Trsm {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t trans;
  cublasDiagType_t diagonal;
  int64_t m, n;
  const void* alpha;
  const void* a;
  int64_t lda;
  void* b;
  int64_t ldb;
  int64_t batch = 1;
  bool pointer_arrays = false;
};

bool is_valid_trsm(const Trsm& trsm) {
  const int64_t order = trsm.side == CUBLAS_SIDE_LEFT ? trsm.m : trsm.n;
  return (trsm.side == CUBLAS_SIDE_LEFT || trsm.side == CUBLAS_SIDE_RIGHT) &&
         (trsm.fill == CUBLAS_FILL_MODE_LOWER || trsm.fill == CUBLAS_FILL_MODE_UPPER) &&
         (trsm.diagonal == CUBLAS_DIAG_UNIT || trsm.diagonal == CUBLAS_DIAG_NON_UNIT) &&
         is_operation(trsm.trans) && trsm.m >= 0 && trsm.n >= 0 && trsm.batch >= 0 &&
         trsm.alpha != nullptr && trsm.lda >= std::max(int64_t{1}, order) &&
         trsm.ldb >= std::max(int64_t{1}, trsm.m);
}

Matrix matrix(const Call& call,
              const Trsm& trsm,
              const void* data,
              cudaDataType type,
              int64_t leading,
              bool transposed) {
  Matrix matrix;
  void* address = kernel_address_of(call, data);
  if (trsm.pointer_arrays) {
    matrix.batch = static_cast<void* const*>(address);
  } else {
    matrix.data = static_cast<char*>(address);
  }
  matrix.type = type;
  matrix.row_stride = transposed ? leading : 1;
  matrix.column_stride = transposed ? 1 : leading;
  return matrix;
}

template <class T>
cublasStatus_t solve(Call& call, cublasHandle_t handle, cudaDataType type, const Trsm& trsm) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!is_valid_trsm(trsm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (trsm.m == 0 || trsm.n == 0 || trsm.batch == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  // X op(A) = B is op(A)^T X^T = B^T; the conjugate of op() stays.
  const bool right = trsm.side == CUBLAS_SIDE_RIGHT;
  const bool transposed = (trsm.trans != CUBLAS_OP_N) != right;
  Solve<T> work{};
  work.m = right ? trsm.n : trsm.m;
  work.n = right ? trsm.m : trsm.n;
  work.batch = trsm.batch;
  work.alpha = scale_of(call, *handle, trsm.alpha, type);
  work.a = matrix(call, trsm, trsm.a, type, trsm.lda, transposed);
  work.a.conjugate = trsm.trans == CUBLAS_OP_C;
  work.b = matrix(call, trsm, trsm.b, type, trsm.ldb, right);
  work.is_lower = (trsm.fill == CUBLAS_FILL_MODE_LOWER) != transposed;
  work.has_unit_diagonal = trsm.diagonal == CUBLAS_DIAG_UNIT;
  return enqueue(call, work, handle->stream);
}

}  // namespace

#define ANVIL_TRSM(name, batched, T, Number, type)                                             \
  ANVIL_BLAS_EXPORT cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side,          \
                                        cublasFillMode_t uplo, cublasOperation_t trans,        \
                                        cublasDiagType_t diag, int m, int n, const T* alpha,   \
                                        const T* A, int lda, T* B, int ldb) {                  \
    ANVIL_BLAS_CALL;                                                                           \
    return solve<Number>(call, handle, type,                                                   \
                         {side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb});              \
  }                                                                                            \
  ANVIL_BLAS_EXPORT cublasStatus_t batched(                                                    \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                     \
      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T* alpha,            \
      const T* const A[], int lda, T* const B[], int ldb, int count) {                         \
    ANVIL_BLAS_CALL;                                                                           \
    return solve<Number>(                                                                      \
        call, handle, type,                                                                    \
        {side, uplo, trans, diag, m, n, alpha, A, lda, const_cast<T**>(B), ldb, count, true}); \
  }

ANVIL_TRSM(cublasStrsm_v2, cublasStrsmBatched, float, float, CUDA_R_32F)
ANVIL_TRSM(cublasDtrsm_v2, cublasDtrsmBatched, double, double, CUDA_R_64F)
ANVIL_TRSM(cublasCtrsm_v2, cublasCtrsmBatched, cuComplex, Complex<float>, CUDA_C_32F)
ANVIL_TRSM(cublasZtrsm_v2, cublasZtrsmBatched, cuDoubleComplex, Complex<double>, CUDA_C_64F)
#undef ANVIL_TRSM

}  // namespace anvil::simulator::blas
