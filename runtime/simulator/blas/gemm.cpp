#include "runtime/simulator/blas/gemm.h"

#include <algorithm>
#include <optional>

#include "runtime/simulator/blas/work.h"

namespace anvil::simulator::blas {
namespace {

int64_t rows_in_memory(cublasOperation_t operation, int64_t rows, int64_t columns) {
  return operation == CUBLAS_OP_N ? rows : columns;
}

// The checks of the documentation's table of returned values.
bool is_valid_gemm(const Gemm& gemm) {
  if (!is_operation(gemm.transa) || !is_operation(gemm.transb) || gemm.m < 0 || gemm.n < 0 ||
      gemm.k < 0 || gemm.batch < 0 || gemm.alpha == nullptr || gemm.beta == nullptr) {
    return false;
  }
  const int64_t one = 1;
  return gemm.lda >= std::max(one, rows_in_memory(gemm.transa, gemm.m, gemm.k)) &&
         gemm.ldb >= std::max(one, rows_in_memory(gemm.transb, gemm.k, gemm.n)) &&
         gemm.ldc >= std::max(one, gemm.m);
}

Matrix matrix(const Call& call,
              const Gemm& gemm,
              const void* data,
              cudaDataType type,
              cublasOperation_t operation,
              int64_t leading,
              int64_t batch_stride) {
  Matrix matrix;
  void* address = kernel_address_of(call, data);
  if (gemm.pointer_arrays) {
    matrix.batch = static_cast<void* const*>(address);
  } else {
    matrix.data = static_cast<char*>(address);
    matrix.batch_stride = batch_stride;
  }
  matrix.type = type;
  matrix.row_stride = operation == CUBLAS_OP_N ? 1 : leading;
  matrix.column_stride = operation == CUBLAS_OP_N ? leading : 1;
  matrix.conjugate = operation == CUBLAS_OP_C;
  return matrix;
}

}  // namespace

GemmTypes types_of(const cublasContext* handle, cudaDataType type) {
  if (type == CUDA_R_16F) {
    return {type, type, type, type, CUBLAS_COMPUTE_16F};
  }
  if (type == CUDA_R_64F || type == CUDA_C_64F) {
    return {type, type, type, type, CUBLAS_COMPUTE_64F};
  }
  const bool tf32 = is_valid(handle) &&
                    (handle->math_mode & CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_TF32_TENSOR_OP_MATH;
  return {type, type, type, type, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}

cublasStatus_t multiply(Call& call,
                        cublasHandle_t handle,
                        const GemmTypes& types,
                        const Gemm& gemm) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (!is_valid_gemm(gemm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::optional<Computation> how =
      types.a == types.b ? computation(types.compute, types.scale, types.a, types.c) : std::nullopt;
  if (!how.has_value()) {
    return refuse(call, "this combination of types");
  }
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  Product product;
  product.m = gemm.m;
  product.n = gemm.n;
  product.k = gemm.k;
  product.batch = gemm.batch;
  product.computation = *how;
  product.alpha = scale_of(call, *handle, gemm.alpha, types.scale);
  product.beta = scale_of(call, *handle, gemm.beta, types.scale);
  product.a = matrix(call, gemm, gemm.a, types.a, gemm.transa, gemm.lda, gemm.stride_a);
  product.b = matrix(call, gemm, gemm.b, types.b, gemm.transb, gemm.ldb, gemm.stride_b);
  product.d = matrix(call, gemm, gemm.c, types.c, CUBLAS_OP_N, gemm.ldc, gemm.stride_c);
  product.c = product.d;
  lend_workspace(call, *handle, product);
  return enqueue(call, product, handle->stream);
}

}  // namespace anvil::simulator::blas
