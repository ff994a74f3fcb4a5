// Matrix times vector, and inner products: products with an extent of 1.
#include <algorithm>
#include <cstring>

#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/gemm.h"
#include "runtime/simulator/blas/types.h"
#include "runtime/simulator/blas/work.h"

namespace anvil::simulator::blas {
namespace {

// A vector as a column: element i lies i * increment elements behind the first,
// which is the last in memory where the increment is negative.
Matrix column(
    const Call& call, const void* data, cudaDataType type, int64_t length, int64_t increment) {
  Matrix matrix;
  matrix.type = type;
  matrix.data = static_cast<char*>(kernel_address_of(call, data));
  if (increment < 0) {
    matrix.data -= (length - 1) * increment * size_of(type);
  }
  matrix.row_stride = increment;
  return matrix;
}

struct Gemv {
  cublasOperation_t trans;
  int64_t m, n;
  const void *alpha, *a;
  int64_t lda;
  const void* x;
  int64_t incx;
  const void* beta;
  void* y;
  int64_t incy;
};

cublasStatus_t multiply(Call& call, cublasHandle_t handle, cudaDataType type, const Gemv& gemv) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!is_operation(gemv.trans) || gemv.m < 0 || gemv.n < 0 ||
      gemv.lda < std::max(int64_t{1}, gemv.m) || gemv.incx == 0 || gemv.incy == 0 ||
      gemv.alpha == nullptr || gemv.beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool plain = gemv.trans == CUBLAS_OP_N;
  Product product;
  product.m = plain ? gemv.m : gemv.n;
  product.n = 1;
  product.k = plain ? gemv.n : gemv.m;
  if (gemv.m == 0 || gemv.n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const GemmTypes types = types_of(handle, type);
  product.computation = *computation(types.compute, type, type, type);
  product.alpha = scale_of(call, *handle, gemv.alpha, type);
  product.beta = scale_of(call, *handle, gemv.beta, type);
  product.a.data = static_cast<char*>(kernel_address_of(call, gemv.a));
  product.a.type = type;
  product.a.row_stride = plain ? 1 : gemv.lda;
  product.a.column_stride = plain ? gemv.lda : 1;
  product.a.conjugate = gemv.trans == CUBLAS_OP_C;
  product.b = column(call, gemv.x, type, product.k, gemv.incx);
  product.d = column(call, gemv.y, type, product.m, gemv.incy);
  product.c = product.d;
  return enqueue(call, product, handle->stream);
}

struct Dot {
  int64_t n;
  const void* x;
  int64_t incx;
  const void* y;
  int64_t incy;
  void* result;
  bool conjugate = false;
};

// Half and bfloat16 are summed in single precision.
cublasStatus_t multiply(Call& call, cublasHandle_t handle, cudaDataType type, const Dot& dot) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (dot.result == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool half = type == CUDA_R_16F || type == CUDA_R_16BF;
  const bool is_double = type == CUDA_R_64F || type == CUDA_C_64F;
  const cudaDataType scale = half ? CUDA_R_32F : type;
  Product product;
  product.m = product.n = 1;
  product.k = std::max(int64_t{0}, dot.n);
  product.computation =
      *computation(is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, scale, type, type);
  product.alpha.re = 1;
  product.a = column(call, dot.x, type, product.k, dot.incx);
  std::swap(product.a.row_stride, product.a.column_stride);
  product.a.conjugate = dot.conjugate;
  product.b = column(call, dot.y, type, product.k, dot.incy);
  product.d.type = type;
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    product.d.data = static_cast<char*>(kernel_address_of(call, dot.result));
    product.c = product.d;
    return enqueue(call, product, handle->stream);
  }
  // A result on the host is there when the call returns.
  alignas(16) char result[16] = {};
  product.d.data = result;
  product.c = product.d;
  if (const cublasStatus_t status = enqueue(call, product, handle->stream)) {
    return status;
  }
  if (simulator().cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  std::memcpy(dot.result, result, size_of(type));
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

#define ANVIL_GEMV(name, T, type)                                                                  \
  ANVIL_BLAS_EXPORT cublasStatus_t name(cublasHandle_t handle, cublasOperation_t trans, int m,     \
                                        int n, const T* alpha, const T* A, int lda, const T* x,    \
                                        int incx, const T* beta, T* y, int incy) {                 \
    ANVIL_BLAS_CALL;                                                                               \
    return multiply(call, handle, type, Gemv{trans, m, n, alpha, A, lda, x, incx, beta, y, incy}); \
  }

ANVIL_GEMV(cublasSgemv_v2, float, CUDA_R_32F)
ANVIL_GEMV(cublasDgemv_v2, double, CUDA_R_64F)
ANVIL_GEMV(cublasCgemv_v2, cuComplex, CUDA_C_32F)
ANVIL_GEMV(cublasZgemv_v2, cuDoubleComplex, CUDA_C_64F)
#undef ANVIL_GEMV

#define ANVIL_DOT(name, T, type, conjugate)                                                 \
  ANVIL_BLAS_EXPORT cublasStatus_t name(cublasHandle_t handle, int n, const T* x, int incx, \
                                        const T* y, int incy, T* result) {                  \
    ANVIL_BLAS_CALL;                                                                        \
    return multiply(call, handle, type, Dot{n, x, incx, y, incy, result, conjugate});       \
  }

ANVIL_DOT(cublasSdot_v2, float, CUDA_R_32F, false)
ANVIL_DOT(cublasDdot_v2, double, CUDA_R_64F, false)
ANVIL_DOT(cublasCdotu_v2, cuComplex, CUDA_C_32F, false)
ANVIL_DOT(cublasCdotc_v2, cuComplex, CUDA_C_32F, true)
ANVIL_DOT(cublasZdotu_v2, cuDoubleComplex, CUDA_C_64F, false)
ANVIL_DOT(cublasZdotc_v2, cuDoubleComplex, CUDA_C_64F, true)
#undef ANVIL_DOT

ANVIL_BLAS_EXPORT cublasStatus_t cublasDotEx(cublasHandle_t handle,
                                             int n,
                                             const void* x,
                                             cudaDataType xType,
                                             int incx,
                                             const void* y,
                                             cudaDataType yType,
                                             int incy,
                                             void* result,
                                             cudaDataType resultType,
                                             cudaDataType executionType) {
  ANVIL_BLAS_CALL;
  const bool half = xType == CUDA_R_16F || xType == CUDA_R_16BF;
  if (size_of(xType) == 0 || xType == CUDA_R_8I || xType == CUDA_R_32I || yType != xType ||
      resultType != xType || executionType != (half ? CUDA_R_32F : xType)) {
    return refuse(call, "this combination of types");
  }
  return multiply(call, handle, xType, Dot{n, x, incx, y, incy, result});
}

}  // namespace anvil::simulator::blas
