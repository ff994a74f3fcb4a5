// Complex numbers for kernels: the layout of c10::complex and std::complex,
// without the headers of either (thrust's cost nvcc three seconds a file).
#pragma once

#include "aten_ops/kernels/macros.h"

namespace anvil::kernels {

template <class T>
struct alignas(2 * sizeof(T)) Complex {
  using value_type = T;

  T real = 0;
  T imag = 0;

  Complex() = default;
  ANVIL_DEVICE constexpr Complex(T real, T imag = 0) : real(real), imag(imag) {}
  template <class U>
  ANVIL_DEVICE constexpr explicit Complex(const Complex<U>& other)
      : real(static_cast<T>(other.real)), imag(static_cast<T>(other.imag)) {}

  ANVIL_DEVICE Complex& operator+=(Complex other) { return *this = *this + other; }
  ANVIL_DEVICE Complex& operator-=(Complex other) { return *this = *this - other; }
  ANVIL_DEVICE Complex& operator*=(Complex other) { return *this = *this * other; }
  ANVIL_DEVICE Complex& operator/=(Complex other) { return *this = *this / other; }

  friend ANVIL_DEVICE constexpr Complex operator-(Complex a) { return {-a.real, -a.imag}; }
  friend ANVIL_DEVICE constexpr Complex operator+(Complex a, Complex b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend ANVIL_DEVICE constexpr Complex operator-(Complex a, Complex b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  friend ANVIL_DEVICE constexpr Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  // Smith's method (Communications of the ACM 5, 1962): scales by the larger
  // component of the divisor, so that the squares do not overflow.
  friend ANVIL_DEVICE constexpr Complex operator/(Complex a, Complex b) {
    const T real_size = b.real < 0 ? -b.real : b.real;
    const T imag_size = b.imag < 0 ? -b.imag : b.imag;
    if (real_size >= imag_size) {
      if (real_size == 0 && imag_size == 0) {
        return {a.real / real_size, a.imag / imag_size};
      }
      const T ratio = b.imag / b.real;
      const T scale = T(1) / (b.real + b.imag * ratio);
      return {(a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale};
    }
    const T ratio = b.real / b.imag;
    const T scale = T(1) / (b.real * ratio + b.imag);
    return {(a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale};
  }
  friend ANVIL_DEVICE constexpr bool operator==(Complex a, Complex b) {
    return a.real == b.real && a.imag == b.imag;
  }
  friend ANVIL_DEVICE constexpr bool operator!=(Complex a, Complex b) { return !(a == b); }
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;

}  // namespace anvil::kernels
