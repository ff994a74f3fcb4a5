// Negative log likelihood: the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// at::Reduction's values.
enum class LossReduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// input: [batch, classes, positions], target: [batch, positions] (int64 or
// uint8), weight: [classes] of the input's dtype or null; all contiguous. A
// target that is neither ignore_index nor a class fails the launch
// asynchronously (a device-side assertion, as on CUDA).
struct NllLoss {
  const void* input;  // forward: log probabilities; backward: not read
  const void* target;
  const void* weight;
  ScalarType dtype;
  ScalarType target_dtype;
  int64_t batch;
  int64_t classes;
  int64_t positions;
  int64_t ignore_index;
  LossReduction reduction;
};

struct NllLossKernels {
  // output: [batch, positions] (kNone) or a scalar; total_weight: a scalar. The
  // mean of no elements is NaN.
  void (&forward)(const NllLoss&, void* output, void* total_weight, cudaStream_t);
  // grad_input: the input's shape, every element is written.
  void (&backward)(const NllLoss&,
                   const void* grad_output,
                   const void* total_weight,
                   void* grad_input,
                   cudaStream_t);
};

extern const NllLossKernels nll_loss_kernels;

}  // namespace anvil::kernels
