// The numbers that cuBLAS computes with, on the host.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <library_types.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace anvil::simulator::blas {

// Plain products: std::complex's operator* repairs infinities, which BLAS does
// not ask for.
template <class Real>
struct Complex {
  Real re, im;

  Complex() = default;
  Complex(Real re, Real im = 0) : re(re), im(im) {}
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // Smith's method: no overflow where the quotient has none.
  friend Complex operator/(Complex a, Complex b) {
    if (std::abs(b.re) >= std::abs(b.im)) {
      const Real ratio = b.im / b.re, scale = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
    }
    const Real ratio = b.re / b.im, scale = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
  }
  friend bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
};

template <class T>
T conjugate(T value) {
  return value;
}
template <class Real>
Complex<Real> conjugate(Complex<Real> value) {
  return {value.re, -value.im};
}

// From the two doubles that a scale factor is kept in.
template <class T>
T from_parts(double re, double) {
  return static_cast<T>(re);
}
template <>
inline Complex<float> from_parts(double re, double im) {
  return {static_cast<float>(re), static_cast<float>(im)};
}
template <>
inline Complex<double> from_parts(double re, double im) {
  return {re, im};
}

// An accumulator of CUBLAS_COMPUTE_16F: every sum is rounded to half.
struct HalfSum {
  float value = 0;
};

template <class T>
void multiply_add(T& sum, T a, T b) {
  sum = sum + a * b;
}
inline void multiply_add(HalfSum& sum, float a, float b) {
  sum.value = __half2float(__float2half_rn(sum.value + a * b));
}

// Round to nearest even at `dropped` bits of a float's mantissa: 13 leaves TF32,
// 16 bfloat16. NaN and infinity stay.
inline float round_mantissa(float value, int dropped) {
  if (!std::isfinite(value)) {
    return value;
  }
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t half = (uint32_t{1} << (dropped - 1)) - 1;
  const uint32_t odd = (bits >> dropped) & 1;
  return std::bit_cast<float>((bits + half + odd) & ~((uint32_t{1} << dropped) - 1));
}

}  // namespace anvil::simulator::blas
