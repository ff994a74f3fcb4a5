// What kernels accumulate in for each scalar type, and loads and stores by dtype.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

template <class T>
inline constexpr bool is_reduced_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The real type of a complex type; any other type itself.
template <class T>
struct RealOfType {
  using type = T;
};
template <class R>
struct RealOfType<Complex<R>> {
  using type = R;
};
template <class T>
using RealOf = typename RealOfType<T>::type;

// Sums and products: float for half, bfloat16 and float, int64_t for integers
// and bool, the type itself for double and complex types.
template <class T>
using Accumulate = std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>;

template <class T>
ANVIL_DEVICE bool is_nan(T x) {
  if constexpr (is_complex<T>) {
    return x.real != x.real || x.imag != x.imag;
  } else if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else {
    return false;
  }
}

template <class T>
ANVIL_DEVICE RealOf<T> squared_magnitude(T x) {
  if constexpr (is_complex<T>) {
    return x.real * x.real + x.imag * x.imag;
  } else {
    return x * x;
  }
}

template <class T>
ANVIL_DEVICE RealOf<T> magnitude(T x) {
  if constexpr (is_complex<T>) {
    return std::hypot(x.real, x.imag);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else {
    return x < T(0) ? -x : x;
  }
}

ANVIL_DEVICE bool is_complex_dtype(ScalarType dtype) {
  return dtype == ScalarType::ComplexFloat || dtype == ScalarType::ComplexDouble;
}
ANVIL_DEVICE bool is_floating_dtype(ScalarType dtype) {
  return dtype == ScalarType::Float || dtype == ScalarType::Double || dtype == ScalarType::Half ||
         dtype == ScalarType::BFloat16;
}
ANVIL_DEVICE bool is_integral_dtype(ScalarType dtype) {
  return dtype == ScalarType::Bool || dtype == ScalarType::Byte || dtype == ScalarType::Char ||
         dtype == ScalarType::Short || dtype == ScalarType::Int || dtype == ScalarType::Long;
}

// data[i] of type `dtype`, widened to V: float, double, int64_t or
// Complex<double>, of which `dtype` must be a narrower form.
template <class V>
ANVIL_DEVICE V load_as(ScalarType dtype, const void* data, int64_t i) {
  if constexpr (is_complex<V>) {
    return dtype == ScalarType::ComplexFloat
               ? static_cast<V>(static_cast<const Complex<float>*>(data)[i])
               : static_cast<const V*>(data)[i];
  } else if constexpr (std::is_same_v<V, double>) {
    return static_cast<const double*>(data)[i];
  } else if constexpr (std::is_same_v<V, float>) {
    switch (dtype) {
      case ScalarType::Half:
        return static_cast<const Half*>(data)[i];
      case ScalarType::BFloat16:
        return static_cast<const BFloat16*>(data)[i];
      default:
        return static_cast<const float*>(data)[i];
    }
  } else {
    switch (dtype) {
      case ScalarType::Bool:
        return static_cast<const bool*>(data)[i] ? 1 : 0;
      case ScalarType::Byte:
        return static_cast<const uint8_t*>(data)[i];
      case ScalarType::Char:
        return static_cast<const int8_t*>(data)[i];
      case ScalarType::Short:
        return static_cast<const int16_t*>(data)[i];
      case ScalarType::Int:
        return static_cast<const int32_t*>(data)[i];
      default:
        return static_cast<const int64_t*>(data)[i];
    }
  }
}

// out[i] = value, converted to `dtype`. `value` is of an accumulation type;
// dtypes of another category (complex for a real value) are not stored.
template <class V>
ANVIL_DEVICE void store_as(ScalarType dtype, void* out, int64_t i, V value) {
  if constexpr (is_complex<V>) {
    if (dtype == ScalarType::ComplexDouble) {
      static_cast<Complex<double>*>(out)[i] = static_cast<Complex<double>>(value);
    } else if (dtype == ScalarType::ComplexFloat) {
      static_cast<Complex<float>*>(out)[i] = static_cast<Complex<float>>(value);
    }
  } else if constexpr (std::is_floating_point_v<V>) {
    switch (dtype) {
      case ScalarType::Float:
        static_cast<float*>(out)[i] = static_cast<float>(value);
        break;
      case ScalarType::Double:
        static_cast<double*>(out)[i] = static_cast<double>(value);
        break;
      case ScalarType::Half:
        static_cast<Half*>(out)[i] = static_cast<Half>(static_cast<float>(value));
        break;
      case ScalarType::BFloat16:
        static_cast<BFloat16*>(out)[i] = static_cast<BFloat16>(static_cast<float>(value));
        break;
      default:
        break;
    }
  } else {
    switch (dtype) {
      case ScalarType::Bool:
        static_cast<bool*>(out)[i] = value != 0;
        break;
      case ScalarType::Byte:
        static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(value);
        break;
      case ScalarType::Char:
        static_cast<int8_t*>(out)[i] = static_cast<int8_t>(value);
        break;
      case ScalarType::Short:
        static_cast<int16_t*>(out)[i] = static_cast<int16_t>(value);
        break;
      case ScalarType::Int:
        static_cast<int32_t*>(out)[i] = static_cast<int32_t>(value);
        break;
      case ScalarType::Long:
        static_cast<int64_t*>(out)[i] = static_cast<int64_t>(value);
        break;
      default:
        break;
    }
  }
}

}  // namespace anvil::kernels
