// Element types of the kernels. No ATen: c10's scalar types, a complex type
// that compiles quickly for the device, and ScalarType with c10's numbering.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/complex.h"

namespace anvil::kernels {

using c10::BFloat16;
using c10::Float8_e4m3fn;
using c10::Float8_e4m3fnuz;
using c10::Float8_e5m2;
using c10::Float8_e5m2fnuz;
using c10::Half;

// X(type, name): every element type that kernels read or write. The names and
// numbers are c10::ScalarType's (checked where both are known, in Loops.h).
#define ANVIL_FOR_EACH_SCALAR_TYPE(X)                       \
  X(uint8_t, Byte, 0)                                       \
  X(int8_t, Char, 1)                                        \
  X(int16_t, Short, 2)                                      \
  X(int32_t, Int, 3)                                        \
  X(int64_t, Long, 4)                                       \
  X(::anvil::kernels::Half, Half, 5)                        \
  X(float, Float, 6)                                        \
  X(double, Double, 7)                                      \
  X(::anvil::kernels::Complex<float>, ComplexFloat, 9)      \
  X(::anvil::kernels::Complex<double>, ComplexDouble, 10)   \
  X(bool, Bool, 11)                                         \
  X(::anvil::kernels::BFloat16, BFloat16, 15)               \
  X(::anvil::kernels::Float8_e5m2, Float8_e5m2, 23)         \
  X(::anvil::kernels::Float8_e4m3fn, Float8_e4m3fn, 24)     \
  X(::anvil::kernels::Float8_e5m2fnuz, Float8_e5m2fnuz, 25) \
  X(::anvil::kernels::Float8_e4m3fnuz, Float8_e4m3fnuz, 26) \
  X(uint16_t, UInt16, 27)                                   \
  X(uint32_t, UInt32, 28)                                   \
  X(uint64_t, UInt64, 29)

// The part of them on which torch computes; the others are only converted. Kept
// short, because every strided kernel has a switch over it.
#define ANVIL_FOR_EACH_ARITHMETIC_TYPE(X) \
  X(uint8_t, Byte, 0)                     \
  X(int8_t, Char, 1)                      \
  X(int16_t, Short, 2)                    \
  X(int32_t, Int, 3)                      \
  X(int64_t, Long, 4)                     \
  X(::anvil::kernels::Half, Half, 5)      \
  X(float, Float, 6)                      \
  X(double, Double, 7)                    \
  X(bool, Bool, 11)                       \
  X(::anvil::kernels::BFloat16, BFloat16, 15)

enum class ScalarType : int8_t {
#define ANVIL_ENUMERATOR(type, name, value) name = value,
  ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_ENUMERATOR)
#undef ANVIL_ENUMERATOR
      Undefined = -1
};

template <class T>
inline constexpr ScalarType scalar_type_of = ScalarType::Undefined;
#define ANVIL_SCALAR_TYPE_OF(type, name, value) \
  template <>                                   \
  inline constexpr ScalarType scalar_type_of<type> = ScalarType::name;
ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_SCALAR_TYPE_OF)
#undef ANVIL_SCALAR_TYPE_OF

// Bytes of one element; 0 for Undefined.
constexpr int element_size(ScalarType type) {
  switch (type) {
#define ANVIL_SIZE(type, name, value) \
  case ScalarType::name:              \
    return sizeof(type);
    ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_SIZE)
#undef ANVIL_SIZE
    default:
      return 0;
  }
}

constexpr const char* scalar_type_name(ScalarType type) {
  switch (type) {
#define ANVIL_NAME(type, name, value) \
  case ScalarType::name:              \
    return #name;
    ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_NAME)
#undef ANVIL_NAME
    default:
      return "Undefined";
  }
}

// The type in which a kernel computes on elements of T: float for the types of
// 16 bits and less, else T.
template <class T>
struct ComputeType {
  using type = T;
};
#define ANVIL_COMPUTES_IN_FLOAT(T) \
  template <>                      \
  struct ComputeType<T> {          \
    using type = float;            \
  };
ANVIL_COMPUTES_IN_FLOAT(Half)
ANVIL_COMPUTES_IN_FLOAT(BFloat16)
ANVIL_COMPUTES_IN_FLOAT(Float8_e5m2)
ANVIL_COMPUTES_IN_FLOAT(Float8_e4m3fn)
ANVIL_COMPUTES_IN_FLOAT(Float8_e5m2fnuz)
ANVIL_COMPUTES_IN_FLOAT(Float8_e4m3fnuz)
#undef ANVIL_COMPUTES_IN_FLOAT
template <class T>
using compute_t = typename ComputeType<T>::type;

}  // namespace anvil::kernels
