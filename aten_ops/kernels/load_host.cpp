#include "aten_ops/kernels/convert.h"
#include "aten_ops/kernels/convert_host.h"
#include "aten_ops/kernels/half_host.h"

namespace anvil::kernels {
namespace {

template <class From, class To>
void load(void* buffer, const char* source, int64_t stride, int64_t n) {
  To* out = static_cast<To*>(buffer);
  if (stride == sizeof(From)) {
    const From* in = reinterpret_cast<const From*>(source);
    if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
      load_half(out, in, n);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        out[i] = cast<To>(in[i]);
      }
    }
    return;
  }
  if (stride == 0) {
    const To value = cast<To>(*reinterpret_cast<const From*>(source));
    for (int64_t i = 0; i < n; ++i) {
      out[i] = value;
    }
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = cast<To>(*reinterpret_cast<const From*>(source + i * stride));
  }
}

}  // namespace

#define ANVIL_CASE(From, name, value) \
  case ScalarType::name:              \
    return &load<From, To>;
#define ANVIL_DEFINE(T)                             \
  template <>                                       \
  LoadFunction load_function<T>(ScalarType dtype) { \
    using To = T;                                   \
    switch (dtype) {                                \
      ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_CASE)        \
      default:                                      \
        return nullptr;                             \
    }                                               \
  }
ANVIL_FOR_EACH_COMPUTE_TYPE(ANVIL_DEFINE)
#undef ANVIL_DEFINE
#define ANVIL_DEFINE(T)                                        \
  template <>                                                  \
  LoadFunction load_function<T>(ScalarType dtype) {            \
    return dtype == scalar_type_of<T> ? &load<T, T> : nullptr; \
  }
ANVIL_FOR_EACH_WORD_TYPE(ANVIL_DEFINE)
#undef ANVIL_DEFINE
#undef ANVIL_CASE

}  // namespace anvil::kernels
