// Foreach: one elementwise operator over lists of tensors, in few launches.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/scalar_type.h"
#include "aten_ops/kernels/tensor_lists.h"

namespace anvil::kernels {

// Each computes out[i] from x[i], y[i], z[i] (the lists after the output's, as
// many as it names) and the tensor's scalar s, in float for 16-bit types.
enum class ForeachOp {
  kZero,        // 0
  kCopy,        // x
  kAbs,         // |x|
  kNeg,         // -x
  kSqrt,        // sqrt(x)
  kRsqrt,       // 1 / sqrt(x)
  kReciprocal,  // 1 / x
  kExp,         // exp(x)
  kAddScalar,   // x + s
  kMulScalar,   // x * s
  kDivScalar,   // x / s
  kMaxScalar,   // max(x, s), NaN if either is
  kMinScalar,   // min(x, s), NaN if either is
  kAddList,     // x + s * y
  kMulList,     // x * y
  kDivList,     // x / y
  kMaxList,     // max(x, y), NaN if either is
  kMinList,     // min(x, y), NaN if either is
  kLerpScalar,  // lerp(x, y, s)
  kLerpList,    // lerp(x, y, z)
  kAddcmul,     // x + s * y * z
  kAddcdiv,     // x + s * (y / z)
};

struct ForeachProblem {
  ForeachOp op;
  ScalarType dtype;       // of every tensor: Float, Double, Half or BFloat16
  TensorListsView lists;  // output first; it may be one of the inputs
  // Device address of one element of `dtype` that multiplies every scalar, or null.
  const void* device_factor = nullptr;
};

// Optimizer steps over lists, in float for 16-bit types. Adam (Kingma and Ba,
// 2015) with `decoupled` weight decay (AdamW, Loshchilov and Hutter, 2019).
struct FusedAdamProblem {
  ScalarType dtype;
  // parameters, gradients, exp_avgs, exp_avg_sqs[, max_exp_avg_sqs if amsgrad], steps. A step is
  // one float on the device, whatever dtype is: the number of this step, from 1.
  TensorListsView lists;
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize, decoupled;
  const float* device_lr = nullptr;   // replaces lr
  const float* grad_scale = nullptr;  // gradients are divided by it, and written back
  const float* found_inf = nullptr;   // where it is 1, nothing is done
};

struct FusedSgdProblem {
  ScalarType dtype;
  TensorListsView lists;  // parameters, gradients[, momentum buffers]
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, is_first_step;
  const float* device_lr = nullptr;
  const float* grad_scale = nullptr;
  const float* found_inf = nullptr;
};

struct AmpUnscaleProblem {
  ScalarType dtype;
  TensorListsView lists;  // gradients, in place
  const float* inverse_scale;
  float* found_inf;  // becomes 1 if an element is infinite or NaN
};

struct AmpUpdateScaleProblem {
  float* scale;
  int* growth_tracker;
  const float* found_inf;
  double growth_factor, backoff_factor;
  int growth_interval;
};

struct ForeachKernels {
  void (&elementwise)(const ForeachProblem&, cudaStream_t);
  void (&fused_adam)(const FusedAdamProblem&, cudaStream_t);
  void (&fused_sgd)(const FusedSgdProblem&, cudaStream_t);
  void (&amp_unscale)(const AmpUnscaleProblem&, cudaStream_t);
  void (&amp_update_scale)(const AmpUpdateScaleProblem&, cudaStream_t);
};

extern const ForeachKernels foreach_kernels;

}  // namespace anvil::kernels
