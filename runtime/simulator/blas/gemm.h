// A call of the GEMM family: checks, and the product that it asks for.
#pragma once

#include <cublas_api.h>

#include <cstdint>

#include "runtime/simulator/blas/call.h"
#include "runtime/simulator/blas/handle.h"

namespace anvil::simulator::blas {

// As the documentation names them; batches are strided or arrays of pointers.
struct Gemm {
  cublasOperation_t transa, transb;
  int64_t m, n, k;
  const void* alpha;
  const void* a;
  int64_t lda;
  const void* b;
  int64_t ldb;
  const void* beta;
  void* c;
  int64_t ldc;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0, batch = 1;
  bool pointer_arrays = false;
};

struct GemmTypes {
  cudaDataType a, b, c, scale;
  cublasComputeType_t compute;
};

// The types of a call that is named after its one type: math mode decides about
// TF32.
GemmTypes types_of(const cublasContext* handle, cudaDataType type);

// Enqueues c = alpha * op(a) @ op(b) + beta * c on the handle's stream.
cublasStatus_t multiply(Call& call,
                        cublasHandle_t handle,
                        const GemmTypes& types,
                        const Gemm& gemm);

inline bool is_operation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

}  // namespace anvil::simulator::blas
