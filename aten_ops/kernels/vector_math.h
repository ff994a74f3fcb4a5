// Declares the functions for which glibc's libmvec has vector forms as such, so
// that g++ calls them from vectorised loops without -ffast-math. (glibc's own
// headers do so only with it.) The contract is GCC's `simd` attribute and the
// "libmvec" page of the glibc wiki; link with -lmvec.
#pragma once

#include <math.h>

#if defined(__AVX2__) && defined(ANVIL_HAVE_LIBMVEC)

#define ANVIL_SIMD __attribute__((simd("notinbranch")))
extern "C" {
#define ANVIL_VECTOR_UNARY(name)                   \
  ANVIL_SIMD extern float name##f(float) noexcept; \
  ANVIL_SIMD extern double name(double) noexcept;
#define ANVIL_VECTOR_BINARY(name)                         \
  ANVIL_SIMD extern float name##f(float, float) noexcept; \
  ANVIL_SIMD extern double name(double, double) noexcept;

// glibc 2.22
ANVIL_VECTOR_UNARY(cos)
ANVIL_VECTOR_UNARY(exp)
ANVIL_VECTOR_UNARY(log)
ANVIL_VECTOR_UNARY(sin)
ANVIL_VECTOR_BINARY(pow)
#if __GLIBC_PREREQ(2, 35)
ANVIL_VECTOR_UNARY(acos)
ANVIL_VECTOR_UNARY(acosh)
ANVIL_VECTOR_UNARY(asin)
ANVIL_VECTOR_UNARY(asinh)
ANVIL_VECTOR_UNARY(atan)
ANVIL_VECTOR_UNARY(atanh)
ANVIL_VECTOR_UNARY(cosh)
ANVIL_VECTOR_UNARY(erf)
ANVIL_VECTOR_UNARY(erfc)
ANVIL_VECTOR_UNARY(exp2)
ANVIL_VECTOR_UNARY(expm1)
ANVIL_VECTOR_UNARY(log10)
ANVIL_VECTOR_UNARY(log1p)
ANVIL_VECTOR_UNARY(log2)
ANVIL_VECTOR_UNARY(sinh)
ANVIL_VECTOR_UNARY(tan)
ANVIL_VECTOR_UNARY(tanh)
ANVIL_VECTOR_BINARY(atan2)
ANVIL_VECTOR_BINARY(hypot)
#endif
#undef ANVIL_VECTOR_UNARY
#undef ANVIL_VECTOR_BINARY
}
#undef ANVIL_SIMD

#endif
