#include "aten_ops/kernels/convert.h"
#include "aten_ops/kernels/convert_host.h"
#include "aten_ops/kernels/half_host.h"

namespace anvil::kernels {
namespace {

template <class To, class From>
void store(char* destination, int64_t stride, const void* buffer, int64_t n) {
  const From* in = static_cast<const From*>(buffer);
  if (stride == sizeof(To)) {
    To* out = reinterpret_cast<To*>(destination);
    if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>) {
      store_half(out, in, n);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        out[i] = cast<To>(in[i]);
      }
    }
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<To*>(destination + i * stride) = cast<To>(in[i]);
  }
}

template <class Narrow, class T>
void visit(void* buffer, int64_t n) {
  T* values = static_cast<T*>(buffer);
  for (int64_t i = 0; i < n; ++i) {
    values[i] = cast<T>(cast<Narrow>(values[i]));
  }
}

// Only float and int64_t stand for narrower types.
template <class T>
ThroughFunction find_through(ScalarType dtype) {
  if constexpr (std::is_same_v<T, float>) {
    switch (dtype) {
      case ScalarType::Half:
        return &visit<Half, T>;
      case ScalarType::BFloat16:
        return &visit<BFloat16, T>;
      default:
        return nullptr;
    }
  } else if constexpr (std::is_same_v<T, int64_t>) {
    switch (dtype) {
      case ScalarType::Byte:
        return &visit<uint8_t, T>;
      case ScalarType::Char:
        return &visit<int8_t, T>;
      case ScalarType::Short:
        return &visit<int16_t, T>;
      case ScalarType::Int:
        return &visit<int32_t, T>;
      case ScalarType::UInt16:
        return &visit<uint16_t, T>;
      case ScalarType::UInt32:
        return &visit<uint32_t, T>;
      case ScalarType::Bool:
        return &visit<bool, T>;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

#define ANVIL_CASE(To, name, value) \
  case ScalarType::name:            \
    return &store<To, From>;
#define ANVIL_DEFINE(T)                                   \
  template <>                                             \
  StoreFunction store_function<T>(ScalarType dtype) {     \
    using From = T;                                       \
    switch (dtype) {                                      \
      ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_CASE)              \
      default:                                            \
        return nullptr;                                   \
    }                                                     \
  }                                                       \
  template <>                                             \
  ThroughFunction through_function<T>(ScalarType dtype) { \
    return find_through<T>(dtype);                        \
  }
ANVIL_FOR_EACH_COMPUTE_TYPE(ANVIL_DEFINE)
#undef ANVIL_DEFINE
#define ANVIL_DEFINE(T)                                         \
  template <>                                                   \
  StoreFunction store_function<T>(ScalarType dtype) {           \
    return dtype == scalar_type_of<T> ? &store<T, T> : nullptr; \
  }                                                             \
  template <>                                                   \
  ThroughFunction through_function<T>(ScalarType) {             \
    return nullptr;                                             \
  }
ANVIL_FOR_EACH_WORD_TYPE(ANVIL_DEFINE)
#undef ANVIL_DEFINE
#undef ANVIL_CASE

}  // namespace anvil::kernels
