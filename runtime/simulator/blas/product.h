// A matrix product: what cublas...gemm... and cublasLtMatmul enqueue.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/blas/types.h"

namespace anvil::simulator::blas {

// A matrix, or a batch of them, as op() leaves it: element (i, j) of matrix b
// lies row_stride * i + column_stride * j elements behind matrix b's first.
struct Matrix {
  char* data = nullptr;          // kernel address
  void* const* batch = nullptr;  // or: an array of device addresses, one for each matrix
  int64_t batch_stride = 0;      // elements, without `batch`
  int64_t row_stride = 1;        // elements
  int64_t column_stride = 0;     // elements
  cudaDataType type = CUDA_R_32F;
  bool conjugate = false;
};

// alpha or beta: a value, or where the device has it when the product runs.
struct Scale {
  double re = 0, im = 0;
  const char* device = nullptr;  // kernel address
  cudaDataType type = CUDA_R_32F;
  int64_t row_stride = 0;    // elements of `device`: 1 for a vector that scales rows
  int64_t batch_stride = 0;  // elements of `device`
};

enum class Activation : uint8_t { kNone, kRelu, kGelu };

// d = activation(alpha * a @ b + beta * c + bias); a is [m, k], b [k, n], c and d
// [m, n]. Summed over k in order, in the computation's accumulator; converted to
// the scale type before scaling and to d's type after the activation (the GELU
// of cuBLASLt is the tanh approximation). c may be d; it is not read if beta is
// 0, and a and b are not if alpha is.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  Computation computation{};
  Scale alpha{}, beta{};
  Matrix a{}, b{}, c{}, d{};
  const char* bias = nullptr;  // [m], of type bias_type; kernel address
  cudaDataType bias_type = CUDA_R_32F;
  int64_t bias_batch_stride = 0;
  Activation activation = Activation::kNone;
  // Scratch memory that the caller lends. It is overwritten, as a GPU would, so
  // that a caller who uses it for something else sees it.
  char* workspace = nullptr;
  size_t workspace_bytes = 0;

  void operator()() const;
};

}  // namespace anvil::simulator::blas
