// From a dtype known at run time to a kernel compiled for its type.
#pragma once

#include <string>

#include "aten_ops/kernels/scalar_type.h"
#include "runtime/error.h"

namespace anvil::kernels {

template <class T>
struct TypeTag {
  using type = T;
};

// `name` is the operator's.
[[noreturn]] inline void throw_not_implemented(const char* name, ScalarType dtype) {
  throw runtime::Error(std::string("\"") + name + "\" not implemented for '" +
                       scalar_type_name(dtype) + "'");
}

// Calls f(TypeTag<T>{}) for the T among Ts whose dtype is `dtype`; throws where
// there is none.
template <class... Ts, class F>
void dispatch(ScalarType dtype, const char* name, F f) {
  const bool found = ((scalar_type_of<Ts> == dtype ? (f(TypeTag<Ts>{}), true) : false) || ...);
  if (!found) {
    throw_not_implemented(name, dtype);
  }
}

// The same over a list of types: dispatch(FloatingTypes{}, dtype, name, f).
template <class... Ts>
struct TypeList {};
template <class... Ts, class F>
void dispatch(TypeList<Ts...>, ScalarType dtype, const char* name, F f) {
  dispatch<Ts...>(dtype, name, f);
}

using FloatingTypes = TypeList<float, double, Half, BFloat16>;

}  // namespace anvil::kernels
