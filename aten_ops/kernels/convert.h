// Conversion between element types, with the meaning of Tensor.to(dtype).
#pragma once

#include <cstring>
#include <type_traits>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

template <class T>
inline constexpr bool computes_in_float = !std::is_same_v<T, compute_t<T>>;

// To bool: differs from zero. To an integer: towards zero; what does not fit is
// unspecified, as on CUDA. Complex to real: the real part. Through float where
// one side has 16 bits or less.
template <class To, class From>
ANVIL_DEVICE To cast(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (computes_in_float<From>) {
    return cast<To>(static_cast<float>(value));
  } else if constexpr (is_complex<From>) {
    if constexpr (is_complex<To>) {
      return To(value);
    } else if constexpr (std::is_same_v<To, bool>) {
      return value.real != 0 || value.imag != 0;
    } else {
      return cast<To>(value.real);
    }
  } else if constexpr (is_complex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (computes_in_float<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_unsigned_v<To> &&
                       sizeof(To) >= 4) {
    // Negative numbers wrap, as they do on both of torch's devices.
    return static_cast<To>(static_cast<int64_t>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

// The element of type `type` at `address`, as To. `type` is not Undefined.
template <class To>
ANVIL_DEVICE To load_as(ScalarType type, const void* address) {
  switch (type) {
#define ANVIL_LOAD(From, name, value) \
  case ScalarType::name:              \
    return cast<To>(*static_cast<const From*>(address));
    ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_LOAD)
#undef ANVIL_LOAD
    default:
      return To{};
  }
}

// Writes `value` as an element of type `type`.
template <class From>
ANVIL_DEVICE void store_as(ScalarType type, void* address, From value) {
  switch (type) {
#define ANVIL_STORE(To, name, number)             \
  case ScalarType::name:                          \
    *static_cast<To*>(address) = cast<To>(value); \
    break;
    ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_STORE)
#undef ANVIL_STORE
    default:
      break;
  }
}

// load_as and store_as for the dtypes on which operators of compute type T work:
// the arithmetic ones, wide unsigned integers for integers, complex for complex.
template <class To>
ANVIL_DEVICE To load_arithmetic(ScalarType type, const void* address) {
  switch (type) {
#define ANVIL_LOAD(From, name, value) \
  case ScalarType::name:              \
    return cast<To>(*static_cast<const From*>(address));
    ANVIL_FOR_EACH_ARITHMETIC_TYPE(ANVIL_LOAD)
#undef ANVIL_LOAD
    default:
      if constexpr (is_complex<To>) {
        return type == ScalarType::ComplexFloat
                   ? cast<To>(*static_cast<const Complex<float>*>(address))
                   : cast<To>(*static_cast<const Complex<double>*>(address));
      } else if constexpr (std::is_integral_v<To>) {
        return type == ScalarType::UInt16   ? cast<To>(*static_cast<const uint16_t*>(address))
               : type == ScalarType::UInt32 ? cast<To>(*static_cast<const uint32_t*>(address))
                                            : cast<To>(*static_cast<const uint64_t*>(address));
      } else {
        return To{};
      }
  }
}

template <class From>
ANVIL_DEVICE void store_arithmetic(ScalarType type, void* address, From value) {
  switch (type) {
#define ANVIL_STORE(To, name, number)             \
  case ScalarType::name:                          \
    *static_cast<To*>(address) = cast<To>(value); \
    break;
    ANVIL_FOR_EACH_ARITHMETIC_TYPE(ANVIL_STORE)
#undef ANVIL_STORE
    case ScalarType::ComplexFloat:
      *static_cast<Complex<float>*>(address) = cast<Complex<float>>(value);
      break;
    case ScalarType::ComplexDouble:
      *static_cast<Complex<double>*>(address) = cast<Complex<double>>(value);
      break;
    default:
      if constexpr (std::is_integral_v<From> && !std::is_same_v<From, bool>) {
        switch (element_size(type)) {
          case 2:
            *static_cast<uint16_t*>(address) = cast<uint16_t>(value);
            break;
          case 4:
            *static_cast<uint32_t*>(address) = cast<uint32_t>(value);
            break;
          default:
            *static_cast<uint64_t*>(address) = cast<uint64_t>(value);
            break;
        }
      }
  }
}

// Whether `type` is among those for compute type T.
template <class T>
constexpr bool is_arithmetic(ScalarType type) {
  switch (type) {
#define ANVIL_TRUE(Type, name, value) case ScalarType::name:
    ANVIL_FOR_EACH_ARITHMETIC_TYPE(ANVIL_TRUE)
#undef ANVIL_TRUE
    return true;
    case ScalarType::ComplexFloat:
    case ScalarType::ComplexDouble:
      return is_complex<T>;
    case ScalarType::UInt16:
    case ScalarType::UInt32:
    case ScalarType::UInt64:
      return std::is_integral_v<T> && !std::is_same_v<T, bool>;
    default:
      return false;
  }
}

// `value` as it is after a visit to `type`: rounded or wrapped to its range.
template <class T>
ANVIL_DEVICE T through(ScalarType type, T value) {
  if constexpr (std::is_same_v<T, float>) {
    switch (type) {
      case ScalarType::Half:
        return cast<T>(cast<Half>(value));
      case ScalarType::BFloat16:
        return cast<T>(cast<BFloat16>(value));
      default:
        return value;
    }
  } else if constexpr (std::is_same_v<T, int64_t>) {
    switch (type) {
      case ScalarType::Byte:
        return static_cast<uint8_t>(value);
      case ScalarType::Char:
        return static_cast<int8_t>(value);
      case ScalarType::Short:
        return static_cast<int16_t>(value);
      case ScalarType::Int:
        return static_cast<int32_t>(value);
      case ScalarType::UInt16:
        return static_cast<uint16_t>(value);
      case ScalarType::UInt32:
        return static_cast<uint32_t>(value);
      case ScalarType::Bool:
        return value != 0;
      default:
        return value;
    }
  } else {
    return value;
  }
}

}  // namespace anvil::kernels
