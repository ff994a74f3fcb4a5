// Reductions of two elements of one type.
#pragma once

#include <type_traits>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Computed in compute_t<T>, and rounded to T.
struct AddElements {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a || b;
    } else {
      using C = compute_t<T>;
      return static_cast<T>(static_cast<C>(a) + static_cast<C>(b));
    }
  }
};
struct MultiplyElements {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return a && b;
    } else {
      using C = compute_t<T>;
      return static_cast<T>(static_cast<C>(a) * static_cast<C>(b));
    }
  }
};
struct MaximumElements {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const auto x = static_cast<compute_t<T>>(a), y = static_cast<compute_t<T>>(b);
    return x != x || x >= y ? a : b;  // b if b is NaN
  }
};
struct MinimumElements {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const auto x = static_cast<compute_t<T>>(a), y = static_cast<compute_t<T>>(b);
    return x != x || x <= y ? a : b;
  }
};

}  // namespace anvil::kernels
