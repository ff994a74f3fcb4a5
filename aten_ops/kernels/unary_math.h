// Unary operators that are one function of math.h or complex_math.h.
#pragma once

#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/unary.h"

// In anvil::kernels::unary: the functor and the function of `NAME`, for the
// compute types in LIST.
#define ANVIL_UNARY_MATH(NAME, FUNCTOR, LIST)                \
  struct FUNCTOR {                                           \
    template <class T>                                       \
    ANVIL_DEVICE T operator()(T x) const {                   \
      return math::NAME(x);                                  \
    }                                                        \
  };                                                         \
  void NAME(const Iterator& iterator, cudaStream_t stream) { \
    elementwise<LIST>(#NAME, iterator, stream, FUNCTOR{});   \
  }
