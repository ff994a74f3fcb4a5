// Scalar math for functors, by one name for all executors and types. On the
// host, exp of a float is our own (exponential.h), other functions are those of
// libmvec where it has them, so that loops vectorise; libmvec promises 4 ULP.
// Complex: complex_math.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "aten_ops/kernels/macros.h"

#if !defined(__CUDACC__)
#include "aten_ops/kernels/exponential.h"
#include "aten_ops/kernels/vector_math.h"
#endif

namespace anvil::kernels::math {

#define ANVIL_MATH_UNARY(name)                              \
  ANVIL_DEVICE float name(float x) { return ::name##f(x); } \
  ANVIL_DEVICE double name(double x) { return ::name(x); }
#define ANVIL_MATH_BINARY(name)                                         \
  ANVIL_DEVICE float name(float x, float y) { return ::name##f(x, y); } \
  ANVIL_DEVICE double name(double x, double y) { return ::name(x, y); }

ANVIL_MATH_UNARY(acos)
ANVIL_MATH_UNARY(acosh)
ANVIL_MATH_UNARY(asin)
ANVIL_MATH_UNARY(asinh)
ANVIL_MATH_UNARY(atan)
ANVIL_MATH_UNARY(atanh)
ANVIL_MATH_UNARY(ceil)
ANVIL_MATH_UNARY(cos)
ANVIL_MATH_UNARY(cosh)
ANVIL_MATH_UNARY(erf)
ANVIL_MATH_UNARY(erfc)
ANVIL_MATH_UNARY(exp2)
ANVIL_MATH_UNARY(expm1)
ANVIL_MATH_UNARY(floor)
ANVIL_MATH_UNARY(lgamma)
ANVIL_MATH_UNARY(log)
ANVIL_MATH_UNARY(log10)
ANVIL_MATH_UNARY(log1p)
ANVIL_MATH_UNARY(log2)
ANVIL_MATH_UNARY(sin)
ANVIL_MATH_UNARY(sinh)
ANVIL_MATH_UNARY(sqrt)
ANVIL_MATH_UNARY(tan)
ANVIL_MATH_UNARY(tanh)
ANVIL_MATH_UNARY(trunc)
ANVIL_MATH_BINARY(atan2)
ANVIL_MATH_BINARY(copysign)
ANVIL_MATH_BINARY(fmod)
ANVIL_MATH_BINARY(hypot)
ANVIL_MATH_BINARY(nextafter)
ANVIL_MATH_BINARY(pow)
#undef ANVIL_MATH_UNARY
#undef ANVIL_MATH_BINARY

// exp_of_negative is exp for x <= 0, of which a result below the smallest normal
// number may be 0; it is cheaper on the host.
#if defined(__CUDACC__)
ANVIL_DEVICE float exp(float x) { return ::expf(x); }
ANVIL_DEVICE float exp_of_negative(float x) { return ::expf(x); }
#else
ANVIL_DEVICE float exp(float x) { return inline_exp(x); }
ANVIL_DEVICE float exp_of_negative(float x) { return inline_exp_of_negative(x); }
#endif
ANVIL_DEVICE double exp(double x) { return ::exp(x); }
ANVIL_DEVICE double exp_of_negative(double x) { return ::exp(x); }

// Half to even, as torch.round does.
ANVIL_DEVICE float round_even(float x) { return ::nearbyintf(x); }
ANVIL_DEVICE double round_even(double x) { return ::nearbyint(x); }

template <class T>
ANVIL_DEVICE bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else {
    return false;
  }
}

template <class T>
ANVIL_DEVICE T abs(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return ::fabsf(x);
  } else if constexpr (std::is_same_v<T, double>) {
    return ::fabs(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else {
    return x < 0 ? static_cast<T>(-x) : x;
  }
}

// max and min that return NaN if either is NaN.
template <class T>
ANVIL_DEVICE T max_or_nan(T a, T b) {
  const T larger = a > b ? a : b;
  return is_nan(a) ? a : is_nan(b) ? b : larger;
}
template <class T>
ANVIL_DEVICE T min_or_nan(T a, T b) {
  const T smaller = a < b ? a : b;
  return is_nan(a) ? a : is_nan(b) ? b : smaller;
}

template <class T>
ANVIL_DEVICE T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

// The standard normal's probability of more than a >= 0. The float form is
// exp(-a^2 / 2) times a polynomial in 1 / (1 + a / 4) (the shape of Abramowitz
// and Stegun 26.2.17) with coefficients of our own fit: absolute error below
// 4e-8 and relative error below 1e-6 for a < 4, 1e-5 for a < 6, where 1 - erf
// cancels. It costs one exp, and vectorises.
ANVIL_DEVICE float normal_tail(float a) {
  const float k = 1.0f / (1.0f + 0.25f * a);
  float p = -0.09358164f;
  p = p * k + 0.35073945f;
  p = p * k - 0.28419080f;
  p = p * k + 0.29805228f;
  p = p * k + 0.01572528f;
  p = p * k + 0.11471706f;
  p = p * k + 0.09853839f;
  return p * k * exp_of_negative(-0.5f * a * a);
}
ANVIL_DEVICE double normal_tail(double a) { return 0.5 * erfc(a * 0.70710678118654752440); }

// The cumulative distribution of the standard normal.
template <class T>
ANVIL_DEVICE T normal_cdf(T x) {
  const T tail = normal_tail(abs(x));
  return x > 0 ? T(1) - tail : tail;
}

}  // namespace anvil::kernels::math
