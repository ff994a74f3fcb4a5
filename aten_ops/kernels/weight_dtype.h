// Normalisations whose weights may be wider than their input.
#pragma once

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/dispatch.h"

namespace anvil::kernels {

// f(TypeTag of the input, TypeTag of the weight): floating types, where the
// weight's is the input's, or float beside half and bfloat16.
template <class F>
void dispatch_with_weight(ScalarType input, ScalarType weight, const char* name, F f) {
  dispatch(FloatingTypes{}, input, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_reduced_v<T>) {
      if (weight == ScalarType::Float) {
        f(tag, TypeTag<float>{});
        return;
      }
    }
    f(tag, tag);
  });
}

}  // namespace anvil::kernels
