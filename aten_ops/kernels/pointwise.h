// Elementwise operators of several inputs, with parameters, and losses.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"
#include "aten_ops/kernels/scalar.h"

// X(name, parameters): operands are the output and the inputs of torch.<name>,
// in the order of its signature unless said otherwise.
#define ANVIL_FOR_EACH_POINTWISE_KERNEL(X)                                      \
  X(addcdiv, Scalar value)                                                      \
  X(addcmul, Scalar value)                                                      \
  X(clamp, Scalar min, Scalar max)                                              \
  X(clamp_max, Scalar max)                                                      \
  X(clamp_min, Scalar min)                                                      \
  /* input, min, max */                                                         \
  X(clamp_tensor, )                                                             \
  X(lerp, Scalar weight)                                                        \
  X(lerp_tensor, )                                                              \
  X(logit, Scalar eps)                                                          \
  /* grad, input; eps < 0 stands for none */                                    \
  X(logit_backward, Scalar eps)                                                 \
  /* input, mask (bool) */                                                      \
  X(masked_fill, Scalar value)                                                  \
  X(nan_to_num, double nan, double posinf, double neginf)                       \
  X(round_decimals, int64_t decimals)                                           \
  /* condition (bool), input, other */                                          \
  X(where, )                                                                    \
  /* Losses: input, target; their gradients: input, target, grad. `norm` is the \
     factor of the reduction. */                                                \
  X(mse, )                                                                      \
  X(mse_backward, Scalar norm)                                                  \
  X(smooth_l1, double beta)                                                     \
  X(smooth_l1_backward, Scalar norm, double beta)                               \
  X(huber, double delta)                                                        \
  X(huber_backward, Scalar norm, double delta)                                  \
  X(binary_cross_entropy, )                                                     \
  X(binary_cross_entropy_backward, Scalar norm)

namespace anvil::kernels {

struct PointwiseKernels {
#define ANVIL_MEMBER(name, ...) \
  void (&name)(const Iterator&, cudaStream_t __VA_OPT__(, ) __VA_ARGS__);
  ANVIL_FOR_EACH_POINTWISE_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

extern const PointwiseKernels pointwise_kernels;

namespace pointwise {
#define ANVIL_DECLARE(name, ...) \
  void name(const Iterator&, cudaStream_t __VA_OPT__(, ) __VA_ARGS__);
ANVIL_FOR_EACH_POINTWISE_KERNEL(ANVIL_DECLARE)
#undef ANVIL_DECLARE
}  // namespace pointwise

}  // namespace anvil::kernels
