// Batch norm around the statistics that reduce.h computes: the interface between
// glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// The input seen as [batch, channels, positions]; dense, either in that order or
// with the channels last ([batch, positions, channels]).
struct BatchNormShape {
  int64_t batch;
  int64_t channels;
  int64_t positions;
  bool channels_last;
};

// Per-channel vectors are contiguous, [channels]. `input_dtype` is that of
// input, output and their gradients; weight, bias, running statistics and the
// gradients of weight and bias have `weight_dtype` (the same, or float beside
// half and bfloat16); mean and invstd are float (double for double). Vectors
// may be null where they say so.
struct BatchNorm {
  const void* input;
  const void* weight;  // or null: 1
  const void* bias;    // or null: 0
  const void* mean;
  const void* invstd;
  void* output;
  ScalarType input_dtype;
  ScalarType weight_dtype;
  BatchNormShape shape;
};

struct BatchNormStatistics {
  void* mean;          // [channels], read
  void* invstd;        // holds the biased variance, is overwritten by 1 / sqrt(variance + eps)
  void* running_mean;  // or null; running = (1 - momentum) * running + momentum * batch's
  void* running_var;   // or null; with the unbiased variance
  ScalarType input_dtype;
  ScalarType weight_dtype;
  int64_t channels;
  int64_t count;  // elements per channel
  double momentum;
  double eps;
};

struct BatchNormBackward {
  const void* grad_output;
  const void* input;
  const void* weight;  // or null
  const void* mean;
  const void* invstd;
  void* grad_input;   // or null
  void* grad_weight;  // or null
  void* grad_bias;    // or null
  void* sums;         // [2, channels] of mean's dtype: receives sum(g), sum(g * (x - mean))
  void* scratch;      // backward_scratch_bytes() of device memory
  bool train;         // the statistics depend on the input
  ScalarType input_dtype;
  ScalarType weight_dtype;
  BatchNormShape shape;
};

// All enqueue on `stream` and return at once. Sums in float (double for double);
// results do not depend on timing.
struct BatchNormKernels {
  // output = (input - mean) * invstd * weight + bias
  void (&normalize)(const BatchNorm&, cudaStream_t);
  void (&finish_statistics)(const BatchNormStatistics&, cudaStream_t);
  // mean and invstd from running statistics of `weight_dtype`, for evaluation.
  void (&statistics_from_running)(const BatchNormStatistics&, cudaStream_t);
  size_t (&backward_scratch_bytes)(const BatchNormShape&);
  void (&backward)(const BatchNormBackward&, cudaStream_t);
};

extern const BatchNormKernels batch_norm_kernels;

}  // namespace anvil::kernels
