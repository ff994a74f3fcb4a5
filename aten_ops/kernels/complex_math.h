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
  const T size = log(abs(base));
  const T direction = arg(base);
  const T radius = exp(exponent.real * size - exponent.imag * direction);
  const T angle = exponent.imag * size + exponent.real * direction;
  // A base of zero: an angle that means nothing (C11, G.6.3.1 on cexp). Zero to
  // the power of zero is NaN, as it is on both of torch's devices.
  if (is_nan(angle) && radius == 0) {
    return {T(0), T(0)};
  }
  if (is_nan(angle) && radius == std::numeric_limits<T>::infinity()) {
    return {radius, angle};
  }
  return polar(radius, angle);
}
// 2^z = e^(z log 2); the real part's power stays exact.
template <class T>
ANVIL_DEVICE Complex<T> exp2(Complex<T> z) {
  const T radius = exp2(z.real);
  const T angle = z.imag * T(0.69314718055994530942);  // log(2)
  return {radius * cos(angle), radius * sin(angle)};
}
// e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2), so that nothing cancels near 0.
template <class T>
ANVIL_DEVICE Complex<T> expm1(Complex<T> z) {
  const T half = sin(z.imag / 2);
  return {expm1(z.real) * cos(z.imag) - 2 * half * half, exp(z.real) * sin(z.imag)};
}
// |1 + z|^2 = 1 + x (2 + x) + y^2, where that is near 1.
template <class T>
ANVIL_DEVICE Complex<T> log1p(Complex<T> z) {
  const T size = hypot(z.real + 1, z.imag);
  const T near = log1p(z.real * (2 + z.real) + z.imag * z.imag) / 2;
  return {size > T(0.5) && size < 2 ? near : log(size), atan2(z.imag, z.real + 1)};
}
// Inverse functions: W. Kahan, Branch cuts for complex elementary functions, in
// The State of the Art in Numerical Analysis (1987), section "Programs".
template <class T>
ANVIL_DEVICE Complex<T> acos(Complex<T> z) {
  const Complex<T> minus = sqrt(Complex<T>(1 - z.real, -z.imag));
  const Complex<T> plus = sqrt(Complex<T>(1 + z.real, z.imag));
  return {2 * atan2(minus.real, plus.real), asinh(plus.real * minus.imag - plus.imag * minus.real)};
}
template <class T>
ANVIL_DEVICE Complex<T> asin(Complex<T> z) {
  const Complex<T> minus = sqrt(Complex<T>(1 - z.real, -z.imag));
  const Complex<T> plus = sqrt(Complex<T>(1 + z.real, z.imag));
  return {atan2(z.real, minus.real * plus.real - minus.imag * plus.imag),
          asinh(minus.real * plus.imag - minus.imag * plus.real)};
}
template <class T>
ANVIL_DEVICE Complex<T> acosh(Complex<T> z) {
  const Complex<T> minus = sqrt(Complex<T>(z.real - 1, z.imag));
  const Complex<T> plus = sqrt(Complex<T>(z.real + 1, z.imag));
  return {asinh(minus.real * plus.real + minus.imag * plus.imag), 2 * atan2(minus.imag, plus.real)};
}
template <class T>
ANVIL_DEVICE Complex<T> asinh(Complex<T> z) {
  const Complex<T> w = asin(Complex<T>(-z.imag, z.real));
  return {w.imag, -w.real};
}
template <class T>
ANVIL_DEVICE Complex<T> atanh(Complex<T> z) {
  const T distance = 1 - z.real;
  const T square = z.imag * z.imag;
  return {log1p(4 * z.real / (distance * distance + square)) / 4,
          atan2(2 * z.imag, distance * (1 + z.real) - square) / 2};
}
template <class T>
ANVIL_DEVICE Complex<T> atan(Complex<T> z) {
  const Complex<T> w = atanh(Complex<T>(-z.imag, z.real));
  return {w.imag, -w.real};
}
// log(exp(a) + exp(b)) from the number with the larger real part.
template <class T>
ANVIL_DEVICE Complex<T> logaddexp(Complex<T> a, Complex<T> b) {
  const bool has_nan = is_nan(a.real) || is_nan(a.imag) || is_nan(b.real) || is_nan(b.imag);
  const Complex<T> larger = a.real >= b.real ? a : b;
  const Complex<T> smaller = a.real >= b.real ? b : a;
  if (has_nan) {
    const T nan = a.real + a.imag + b.real + b.imag;
    return {nan, nan};
  }
  // Equal infinities have no difference.
  if (larger.real == smaller.real && larger.real - smaller.real != 0) {
    return larger.real < 0 ? smaller : log(exp(smaller) + exp(larger));
  }
  return larger + log1p(exp(smaller - larger));
}
template <class T>
ANVIL_DEVICE Complex<T> sigmoid(Complex<T> z) {
  return Complex<T>(T(1)) / (Complex<T>(T(1)) + exp(-z));
}

}  // namespace anvil::kernels::math
