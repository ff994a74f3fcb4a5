// How a reduction reads its elements: compiled for the dtype, or by a switch.
#pragma once

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/pointer.h"

namespace anvil::kernels {

// Elements of type T, widened to what they accumulate in.
template <class T>
struct TypedInput {
  using Value = Accumulate<T>;
  static constexpr bool kTyped = true;
  Pointer<const T> data;

  explicit TypedInput(const void* pointer = nullptr, ScalarType = ScalarType::Undefined)
      : data(static_cast<const T*>(pointer)) {}
  ANVIL_DEVICE Value load(int64_t i) const { return static_cast<Value>(data[i]); }
};

// Elements of any dtype of V's category: V = float (half, bfloat16, float),
// double, int64_t (integers, bool), Complex<double> (complex). For operators
// whose speed does not pay for a kernel per dtype.
template <class V>
struct AnyInput {
  using Value = V;
  static constexpr bool kTyped = false;
  Pointer<const void> data;
  ScalarType dtype;

  explicit AnyInput(const void* pointer = nullptr, ScalarType dtype = ScalarType::Undefined)
      : data(pointer), dtype(dtype) {}
  ANVIL_DEVICE V load(int64_t i) const { return load_as<V>(dtype, data, i); }
};

// 1 where an element of any dtype is not zero (NaN is not), else 0.
struct NonZeroInput {
  using Value = int32_t;
  static constexpr bool kTyped = false;
  Pointer<const void> data;
  ScalarType dtype;

  explicit NonZeroInput(const void* pointer = nullptr, ScalarType dtype = ScalarType::Undefined)
      : data(pointer), dtype(dtype) {}
  ANVIL_DEVICE int32_t load(int64_t i) const {
    if (is_complex_dtype(dtype)) {
      return load_as<Complex<double>>(dtype, data, i) != Complex<double>(0) ? 1 : 0;
    }
    if (dtype == ScalarType::Double) {
      return static_cast<const double*>(data.get())[i] != 0 ? 1 : 0;
    }
    if (is_floating_dtype(dtype)) {
      return load_as<float>(dtype, data, i) != 0 ? 1 : 0;
    }
    return load_as<int64_t>(dtype, data, i) != 0 ? 1 : 0;
  }
};

}  // namespace anvil::kernels
