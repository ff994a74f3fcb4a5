// Dense matrix products: one interface over cuBLASLt (CUDA, or the simulator's
// stand-in for it) and ATen's CPU implementation on the same memory (simulator).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

namespace anvil::library {

// A matrix in device memory, or a batch of them: element (b, i, j) lies at
// data[b * batch_stride + i * row_stride + j * column_stride]. Strides are in
// elements; one of row_stride and column_stride is 1 and the other at least the
// length of the contiguous dimension.
struct Matrix {
  void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
  int64_t batch_stride = 0;
};

// What is applied to the product before it is stored.
enum class Activation { kNone, kRelu, kGelu };  // kGelu: the tanh approximation

// d = activation(alpha * a @ b + beta * c + bias) for each matrix of the batch.
// a is [m, k], b is [k, n], c and d are [m, n], bias is [n]; all extents are at
// least 1. Dtype: float, double, half, bfloat16, complex float, complex double;
// half and bfloat16 are accumulated in float; complex products have neither bias
// nor activation, as cuBLASLt's. c may be d; it is not read if
// beta is 0. d has column_stride 1 and overlaps neither a nor b.
struct Gemm {
  at::ScalarType dtype;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  at::Scalar alpha = 1, beta = 0;
  Matrix a{}, b{}, c{}, d{};
  const void* bias = nullptr;
  Activation activation = Activation::kNone;
};

// Stateless for the caller and thread-safe. Work goes to the calling thread's
// current stream; nothing synchronises. Float products use TF32 where torch's
// global context allows it. Throws if the library rejects the product.
class Blas {
 public:
  virtual ~Blas() = default;
  virtual void gemm(const Gemm& gemm) = 0;
};

// The implementation for runtime::driver(), made at first use; on the simulator
// ANVIL_SIMULATOR_BLAS chooses it (aten, cublaslt).
Blas& blas();

// Each implementation's factory; only blas() calls these. The object is never
// destroyed.
Blas* make_cublaslt();
Blas* make_simulator_blas();

}  // namespace anvil::library
