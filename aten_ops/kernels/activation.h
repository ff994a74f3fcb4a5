// Activation functions and their gradients.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"
#include "aten_ops/kernels/scalar.h"

// X(name, parameters): output, then the inputs in the order of the operator's
// TensorIterator: (grad, input) for gradients unless said otherwise.
#define ANVIL_FOR_EACH_ACTIVATION_KERNEL(X)                                       \
  X(elu, Scalar alpha, Scalar scale, Scalar input_scale)                          \
  /* with is_result: (grad, result of elu) */                                     \
  X(elu_backward, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result) \
  X(gelu, bool tanh)                                                              \
  X(gelu_backward, bool tanh)                                                     \
  X(glu, )                                                                        \
  X(hardshrink, Scalar lambd)                                                     \
  X(hardsigmoid, )                                                                \
  X(hardsigmoid_backward, )                                                       \
  X(hardswish, )                                                                  \
  X(hardswish_backward, )                                                         \
  X(hardtanh_backward, Scalar min, Scalar max)                                    \
  X(leaky_relu, Scalar slope)                                                     \
  /* input, grad */                                                               \
  X(leaky_relu_backward, Scalar slope)                                            \
  X(log_sigmoid, )                                                                \
  X(log_sigmoid_backward, )                                                       \
  X(mish, )                                                                       \
  X(mish_backward, )                                                              \
  X(prelu, )                                                                      \
  X(shrink_backward, Scalar lambd)                                                \
  /* grad, result of sigmoid */                                                   \
  X(sigmoid_backward, )                                                           \
  X(silu, )                                                                       \
  X(silu_backward, )                                                              \
  X(softplus, Scalar beta, Scalar threshold)                                      \
  X(softplus_backward, Scalar beta, Scalar threshold)                             \
  X(softshrink, Scalar lambd)                                                     \
  /* grad, result of tanh */                                                      \
  X(tanh_backward, )                                                              \
  /* input, other: input <= threshold ? value : other */                          \
  X(threshold, Scalar threshold, Scalar value)

namespace anvil::kernels {

struct ActivationKernels {
#define ANVIL_MEMBER(name, ...) \
  void (&name)(const Iterator&, cudaStream_t __VA_OPT__(, ) __VA_ARGS__);
  ANVIL_FOR_EACH_ACTIVATION_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

extern const ActivationKernels activation_kernels;

namespace activation {
#define ANVIL_DECLARE(name, ...) \
  void name(const Iterator&, cudaStream_t __VA_OPT__(, ) __VA_ARGS__);
ANVIL_FOR_EACH_ACTIVATION_KERNEL(ANVIL_DECLARE)
#undef ANVIL_DECLARE
}  // namespace activation

}  // namespace anvil::kernels
