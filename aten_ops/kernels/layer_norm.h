// Layer norm (and, with rows = batch x groups, the statistics of group norm):
// the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Contiguous tensors. input, output: [rows, columns] of `dtype`. weight, bias:
// [columns] of `weight_dtype` (that of the input, or float), may be null.
// mean, rstd: [rows], float (double for double).
struct LayerNorm {
  const void* input;
  const void* weight;
  const void* bias;
  void* output;
  void* mean;
  void* rstd;
  ScalarType dtype;
  ScalarType weight_dtype;
  int64_t rows;
  int64_t columns;
  double eps;
};

struct LayerNormBackward {
  const void* grad_output;
  const void* input;
  const void* weight;
  const void* mean;
  const void* rstd;
  void* grad_input;  // each may be null: not wanted
  void* grad_weight;
  void* grad_bias;
  void* scratch;  // backward_scratch_bytes() of device memory
  ScalarType dtype;
  ScalarType weight_dtype;
  int64_t rows;
  int64_t columns;
};

// All enqueue on `stream` and return at once; sums in float (double for double),
// variance by two passes; independent of timing.
struct LayerNormKernels {
  void (&forward)(const LayerNorm&, cudaStream_t);
  void (&backward)(const LayerNormBackward&, cudaStream_t);
  size_t (&backward_scratch_bytes)(int64_t rows, int64_t columns);
};

extern const LayerNormKernels layer_norm_kernels;

}  // namespace anvil::kernels
