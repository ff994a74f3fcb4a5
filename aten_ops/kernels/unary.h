// Unary operators without parameters: output, input.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"

// X(name): computes torch.<name>. Integers, half types and complex numbers as in
// the operator's CUDA kernel; else "not implemented".
#define ANVIL_FOR_EACH_UNARY_KERNEL(X) \
  X(abs)                               \
  X(acos)                              \
  X(acosh)                             \
  X(angle)                             \
  X(asin)                              \
  X(asinh)                             \
  X(atan)                              \
  X(atanh)                             \
  X(bitwise_not)                       \
  X(ceil)                              \
  X(conj_physical)                     \
  X(cos)                               \
  X(cosh)                              \
  X(erf)                               \
  X(erfc)                              \
  X(exp)                               \
  X(exp2)                              \
  X(expm1)                             \
  X(floor)                             \
  X(frac)                              \
  X(isneginf)                          \
  X(isposinf)                          \
  X(lgamma)                            \
  X(log)                               \
  X(log10)                             \
  X(log1p)                             \
  X(log2)                              \
  X(logical_not)                       \
  X(neg)                               \
  X(reciprocal)                        \
  X(round)                             \
  X(rsqrt)                             \
  X(sgn)                               \
  X(sigmoid)                           \
  X(sign)                              \
  X(signbit)                           \
  X(sin)                               \
  X(sinc)                              \
  X(sinh)                              \
  X(sqrt)                              \
  X(tan)                               \
  X(tanh)                              \
  X(trunc)

namespace anvil::kernels {

struct UnaryKernels {
#define ANVIL_MEMBER(name) void (&name)(const Iterator&, cudaStream_t);
  ANVIL_FOR_EACH_UNARY_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

extern const UnaryKernels unary_kernels;

namespace unary {
#define ANVIL_DECLARE(name) void name(const Iterator&, cudaStream_t);
ANVIL_FOR_EACH_UNARY_KERNEL(ANVIL_DECLARE)
#undef ANVIL_DECLARE
}  // namespace unary

}  // namespace anvil::kernels
