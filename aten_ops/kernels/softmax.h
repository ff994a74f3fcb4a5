// Softmax and log-softmax: the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Tensors are contiguous and seen as [outer, dim, inner]; the softmax is over
// `dim`. All sizes are positive.
struct SoftmaxShape {
  int64_t outer;
  int64_t dim;
  int64_t inner;
};

// All enqueue on `stream` and return at once. Half and bfloat16 are computed in
// float.
struct SoftmaxKernels {
  using Forward = void(const void* input,
                       ScalarType input_dtype,
                       void* output,
                       ScalarType output_dtype,
                       SoftmaxShape,
                       cudaStream_t);
  using Backward = void(const void* grad_output,
                        const void* output,
                        ScalarType dtype,
                        void* grad_input,
                        ScalarType input_dtype,
                        SoftmaxShape,
                        cudaStream_t);

  // output = softmax(input). Dtypes are equal, or half or bfloat16 to float.
  Forward& softmax;
  Forward& log_softmax;
  // grad_output and output have `dtype`; grad_input the same, or half or
  // bfloat16 where `dtype` is float.
  Backward& softmax_backward;
  Backward& log_softmax_backward;
};

extern const SoftmaxKernels softmax_kernels;

}  // namespace anvil::kernels
