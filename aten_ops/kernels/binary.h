// Binary operators: output, a, b.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"
#include "aten_ops/kernels/scalar.h"

// X(name): torch.<name>; div_* are torch.div with that rounding mode. Integers
// wrap. An integer divided by zero is -1, and so is its remainder (CUDA leaves
// it open; the CPU raises).
#define ANVIL_FOR_EACH_BINARY_KERNEL(X) \
  X(atan2)                              \
  X(bitwise_and)                        \
  X(bitwise_or)                         \
  X(bitwise_xor)                        \
  /* a + b i, of real numbers */        \
  X(complex)                            \
  X(copysign)                           \
  X(div_floor)                          \
  X(div_true)                           \
  X(div_trunc)                          \
  X(eq)                                 \
  X(fmax)                               \
  X(fmin)                               \
  X(fmod)                               \
  X(gcd)                                \
  X(ge)                                 \
  X(gt)                                 \
  X(heaviside)                          \
  X(hypot)                              \
  X(lcm)                                \
  X(le)                                 \
  X(logaddexp)                          \
  X(logaddexp2)                         \
  X(logical_and)                        \
  X(logical_or)                         \
  X(logical_xor)                        \
  X(lshift)                             \
  X(lt)                                 \
  X(maximum)                            \
  X(minimum)                            \
  X(mul)                                \
  X(ne)                                 \
  X(nextafter)                          \
  /* of radius a and angle b */         \
  X(polar)                              \
  X(pow)                                \
  X(remainder)                          \
  X(rshift)                             \
  X(xlog1py)                            \
  X(xlogy)

namespace anvil::kernels {

struct BinaryKernels {
#define ANVIL_MEMBER(name) void (&name)(const Iterator&, cudaStream_t);
  ANVIL_FOR_EACH_BINARY_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
  // a + alpha * b
  void (&add)(const Iterator&, cudaStream_t, Scalar alpha);
  // output, a: a to a constant power
  void (&pow_scalar)(const Iterator&, cudaStream_t, Scalar exponent);
};

extern const BinaryKernels binary_kernels;

namespace binary {
#define ANVIL_DECLARE(name) void name(const Iterator&, cudaStream_t);
ANVIL_FOR_EACH_BINARY_KERNEL(ANVIL_DECLARE)
#undef ANVIL_DECLARE
void add(const Iterator&, cudaStream_t, Scalar alpha);
void pow_scalar(const Iterator&, cudaStream_t, Scalar exponent);
}  // namespace binary

}  // namespace anvil::kernels
