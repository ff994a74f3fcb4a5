// The GEMM family's entry points.
#include "runtime/simulator/blas/gemm.h"
#include "runtime/simulator/blas/types.h"

namespace anvil::simulator::blas {
namespace {

// What the deprecated ...Ex calls of one precision compute with.
GemmTypes mixed(const cublasContext* handle,
                cudaDataType a,
                cudaDataType b,
                cudaDataType c,
                cudaDataType scale) {
  GemmTypes types = types_of(handle, scale);
  // TF32 is a mode of 32-bit operands only.
  if (a != CUDA_R_32F && a != CUDA_C_32F) {
    types.compute = CUBLAS_COMPUTE_32F;
  }
  return {a, b, c, scale, types.compute};
}

GemmTypes computed(const cublasContext* handle,
                   cudaDataType a,
                   cudaDataType b,
                   cudaDataType c,
                   cublasComputeType_t compute) {
  const cudaDataType scale = scale_type(compute, c);
  if (compute == CUBLAS_COMPUTE_32F) {
    return mixed(handle, a, b, c, scale);
  }
  return {a, b, c, scale, compute};
}

}  // namespace

// cublasSgemm and its kin, and their batched forms.
#define ANVIL_GEMM(letter_gemm, batched, strided, T, type)                                      \
  ANVIL_BLAS_EXPORT cublasStatus_t letter_gemm(cublasHandle_t handle, cublasOperation_t transa, \
                                               cublasOperation_t transb, int m, int n, int k,   \
                                               const T* alpha, const T* A, int lda, const T* B, \
                                               int ldb, const T* beta, T* C, int ldc) {         \
    ANVIL_BLAS_CALL;                                                                            \
    return multiply(call, handle, types_of(handle, type),                                       \
                    {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});            \
  }                                                                                             \
  ANVIL_BLAS_EXPORT cublasStatus_t batched(                                                     \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* const A[], int lda, const T* const B[], int ldb,          \
      const T* beta, T* const C[], int ldc, int count) {                                        \
    ANVIL_BLAS_CALL;                                                                            \
    return multiply(call, handle, types_of(handle, type),                                       \
                    {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, const_cast<T**>(C),  \
                     ldc, 0, 0, 0, count, true});                                               \
  }                                                                                             \
  ANVIL_BLAS_EXPORT cublasStatus_t strided(                                                     \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb,       \
      long long strideB, const T* beta, T* C, int ldc, long long strideC, int count) {          \
    ANVIL_BLAS_CALL;                                                                            \
    return multiply(call, handle, types_of(handle, type),                                       \
                    {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, strideA,     \
                     strideB, strideC, count});                                                 \
  }

ANVIL_GEMM(cublasHgemm, cublasHgemmBatched, cublasHgemmStridedBatched, __half, CUDA_R_16F)
ANVIL_GEMM(cublasSgemm_v2, cublasSgemmBatched, cublasSgemmStridedBatched, float, CUDA_R_32F)
ANVIL_GEMM(cublasDgemm_v2, cublasDgemmBatched, cublasDgemmStridedBatched, double, CUDA_R_64F)
ANVIL_GEMM(cublasCgemm_v2, cublasCgemmBatched, cublasCgemmStridedBatched, cuComplex, CUDA_C_32F)
ANVIL_GEMM(
    cublasZgemm_v2, cublasZgemmBatched, cublasZgemmStridedBatched, cuDoubleComplex, CUDA_C_64F)
#undef ANVIL_GEMM

ANVIL_BLAS_EXPORT cublasStatus_t cublasSgemmEx(cublasHandle_t handle,
                                               cublasOperation_t transa,
                                               cublasOperation_t transb,
                                               int m,
                                               int n,
                                               int k,
                                               const float* alpha,
                                               const void* A,
                                               cudaDataType Atype,
                                               int lda,
                                               const void* B,
                                               cudaDataType Btype,
                                               int ldb,
                                               const float* beta,
                                               void* C,
                                               cudaDataType Ctype,
                                               int ldc) {
  ANVIL_BLAS_CALL;
  return multiply(call, handle, mixed(handle, Atype, Btype, Ctype, CUDA_R_32F),
                  {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t handle,
                                              cublasOperation_t transa,
                                              cublasOperation_t transb,
                                              int m,
                                              int n,
                                              int k,
                                              const void* alpha,
                                              const void* A,
                                              cudaDataType Atype,
                                              int lda,
                                              const void* B,
                                              cudaDataType Btype,
                                              int ldb,
                                              const void* beta,
                                              void* C,
                                              cudaDataType Ctype,
                                              int ldc,
                                              cublasComputeType_t compute,
                                              cublasGemmAlgo_t) {
  ANVIL_BLAS_CALL;
  return multiply(call, handle, computed(handle, Atype, Btype, Ctype, compute),
                  {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc});
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle,
                                                     cublasOperation_t transa,
                                                     cublasOperation_t transb,
                                                     int m,
                                                     int n,
                                                     int k,
                                                     const void* alpha,
                                                     const void* const A[],
                                                     cudaDataType Atype,
                                                     int lda,
                                                     const void* const B[],
                                                     cudaDataType Btype,
                                                     int ldb,
                                                     const void* beta,
                                                     void* const C[],
                                                     cudaDataType Ctype,
                                                     int ldc,
                                                     int count,
                                                     cublasComputeType_t compute,
                                                     cublasGemmAlgo_t) {
  ANVIL_BLAS_CALL;
  return multiply(call, handle, computed(handle, Atype, Btype, Ctype, compute),
                  {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, const_cast<void**>(C), ldc,
                   0, 0, 0, count, true});
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle,
                                                            cublasOperation_t transa,
                                                            cublasOperation_t transb,
                                                            int m,
                                                            int n,
                                                            int k,
                                                            const void* alpha,
                                                            const void* A,
                                                            cudaDataType Atype,
                                                            int lda,
                                                            long long strideA,
                                                            const void* B,
                                                            cudaDataType Btype,
                                                            int ldb,
                                                            long long strideB,
                                                            const void* beta,
                                                            void* C,
                                                            cudaDataType Ctype,
                                                            int ldc,
                                                            long long strideC,
                                                            int count,
                                                            cublasComputeType_t compute,
                                                            cublasGemmAlgo_t) {
  ANVIL_BLAS_CALL;
  return multiply(call, handle, computed(handle, Atype, Btype, Ctype, compute),
                  {transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, strideA, strideB,
                   strideC, count});
}

}  // namespace anvil::simulator::blas
