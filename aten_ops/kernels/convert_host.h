// Loops that bring elements of any dtype into buffers of a compute type and
// back, for the host executor. Strides are in bytes; buffers are dense.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

using LoadFunction = void (*)(void* buffer, const char* source, int64_t stride, int64_t n);
using StoreFunction = void (*)(char* destination, int64_t stride, const void* buffer, int64_t n);
using ThroughFunction = void (*)(void* buffer, int64_t n);

// X(type): the compute types that host kernels may use.
#define ANVIL_FOR_EACH_COMPUTE_TYPE(X) \
  X(float)                             \
  X(double)                            \
  X(int64_t)                           \
  X(uint64_t)                          \
  X(int32_t)                           \
  X(bool)                              \
  X(::anvil::kernels::Complex<float>)  \
  X(::anvil::kernels::Complex<double>)

// X(type): further types that are only moved, to and from their own dtype.
#define ANVIL_FOR_EACH_WORD_TYPE(X) \
  X(uint8_t)                        \
  X(int16_t)

// From elements of `dtype` to T; `dtype` is not Undefined.
template <class T>
LoadFunction load_function(ScalarType dtype);

// From T to elements of `dtype`.
template <class T>
StoreFunction store_function(ScalarType dtype);

// Rounds (or wraps) a buffer of T to what `dtype` can hold; null if that
// changes nothing. See through() in convert.h.
template <class T>
ThroughFunction through_function(ScalarType dtype);

#define ANVIL_DECLARE(T)                       \
  template <>                                  \
  LoadFunction load_function<T>(ScalarType);   \
  template <>                                  \
  StoreFunction store_function<T>(ScalarType); \
  template <>                                  \
  ThroughFunction through_function<T>(ScalarType);
ANVIL_FOR_EACH_COMPUTE_TYPE(ANVIL_DECLARE)
ANVIL_FOR_EACH_WORD_TYPE(ANVIL_DECLARE)
#undef ANVIL_DECLARE

}  // namespace anvil::kernels
