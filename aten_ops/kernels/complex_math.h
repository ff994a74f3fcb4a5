// Functions of complex numbers, by the names of math.h. Formulas: Abramowitz and
// Stegun, Handbook of Mathematical Functions, chapter 4.
#pragma once

#include "aten_ops/kernels/complex.h"
#include "aten_ops/kernels/math.h"

namespace anvil::kernels::math {

template <class T>
ANVIL_DEVICE T abs(Complex<T> z) {
  return hypot(z.real, z.imag);
}
template <class T>
ANVIL_DEVICE T arg(Complex<T> z) {
  return atan2(z.imag, z.real);
}
template <class T>
ANVIL_DEVICE Complex<T> conj(Complex<T> z) {
  return {z.real, -z.imag};
}
template <class T>
ANVIL_DEVICE Complex<T> polar(T radius, T angle) {
  return {radius * cos(angle), radius * sin(angle)};
}
template <class T>
ANVIL_DEVICE Complex<T> exp(Complex<T> z) {
  // On the real axis the imaginary part stays zero, also where exp overflows.
  const T radius = exp(z.real);
  return {z.imag == 0 ? radius : radius * cos(z.imag), z.imag == 0 ? z.imag : radius * sin(z.imag)};
}
template <class T>
ANVIL_DEVICE Complex<T> log(Complex<T> z) {
  return {log(abs(z)), arg(z)};
}
template <class T>
ANVIL_DEVICE Complex<T> log2(Complex<T> z) {
  const T scale = T(1.4426950408889634074);  // 1 / log(2)
  return {log2(abs(z)), arg(z) * scale};
}
template <class T>
ANVIL_DEVICE Complex<T> log10(Complex<T> z) {
  const T scale = T(0.43429448190325182765);  // 1 / log(10)
  return {log10(abs(z)), arg(z) * scale};
}
// The branch with a non-negative real part (section 3.7.27), from the larger of
// the two halves, so that nothing cancels.
template <class T>
ANVIL_DEVICE Complex<T> sqrt(Complex<T> z) {
  if (z.real == 0 && z.imag == 0) {
    return {T(0), z.imag};
  }
  const T half = sqrt((abs(z.real) + abs(z)) / 2);
  const T other = abs(z.imag) / (2 * half);
  return z.real >= 0 ? Complex<T>(half, copysign(other, z.imag))
                     : Complex<T>(other, copysign(half, z.imag));
}
template <class T>
ANVIL_DEVICE Complex<T> sin(Complex<T> z) {
  return {sin(z.real) * cosh(z.imag), cos(z.real) * sinh(z.imag)};
}
template <class T>
ANVIL_DEVICE Complex<T> cos(Complex<T> z) {
  return {cos(z.real) * cosh(z.imag), -(sin(z.real) * sinh(z.imag))};
}
template <class T>
ANVIL_DEVICE Complex<T> sinh(Complex<T> z) {
  return {sinh(z.real) * cos(z.imag), cosh(z.real) * sin(z.imag)};
}
template <class T>
ANVIL_DEVICE Complex<T> cosh(Complex<T> z) {
  return {cosh(z.real) * cos(z.imag), sinh(z.real) * sin(z.imag)};
}
// tanh(x + iy) = (tanh x + i tan y) / (1 + i tanh x tan y), which neither
// overflows nor cancels for large x.
template <class T>
ANVIL_DEVICE Complex<T> tanh(Complex<T> z) {
  const T a = tanh(z.real);
  const T b = tan(z.imag);
  const T scale = T(1) / (T(1) + a * a * b * b);
  return {a * (T(1) + b * b) * scale, b * (T(1) - a * a) * scale};
}
template <class T>
ANVIL_DEVICE Complex<T> tan(Complex<T> z) {
  const Complex<T> r = tanh(Complex<T>(-z.imag, z.real));
  return {r.imag, -r.real};
}
template <class T>
ANVIL_DEVICE Complex<T> pow(Complex<T> base, Complex<T> exponent) {
  if (exponent.real == 0 && exponent.imag == 0) {
    return {T(1), T(0)};
  }
  if (base.real == 0 && base.imag == 0) {
    return {T(0), T(0)};
  }
  const T size = log(abs(base));
  const T angle = arg(base);
  return polar(exp(exponent.real * size - exponent.imag * angle),
               exponent.imag * size + exponent.real * angle);
}
template <class T>
ANVIL_DEVICE Complex<T> sigmoid(Complex<T> z) {
  return Complex<T>(T(1)) / (Complex<T>(T(1)) + exp(-z));
}

}  // namespace anvil::kernels::math
