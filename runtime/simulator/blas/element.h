// Elements of matrices in memory, read and written as the type that a product
// computes with.
#pragma once

#include "runtime/simulator/blas/number.h"

namespace anvil::simulator::blas {

// Bytes of an element; 0 for a type that no product has.
inline int64_t size_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

inline bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

// How T is read from and written to memory that holds M.
template <class T, class M>
struct Convert {
  static T load(M value) { return static_cast<T>(value); }
  static M store(T value) { return static_cast<M>(value); }
};
template <class T>
struct Convert<T, __half> {
  static T load(__half value) { return static_cast<T>(__half2float(value)); }
  static __half store(T value) { return __float2half_rn(static_cast<float>(value)); }
};
template <class T>
struct Convert<T, __nv_bfloat16> {
  static T load(__nv_bfloat16 value) { return static_cast<T>(__bfloat162float(value)); }
  static __nv_bfloat16 store(T value) { return __float2bfloat16_rn(static_cast<float>(value)); }
};
// Quantised results saturate.
template <class T>
struct Convert<T, int8_t> {
  static T load(int8_t value) { return static_cast<T>(value); }
  static int8_t store(T value) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    return static_cast<int8_t>(rounded < -128 ? -128 : rounded > 127 ? 127 : rounded);
  }
};

// `count` elements from `memory` on, `stride` elements apart, into or from
// `values`, which are `step` apart.
template <class T>
struct Access {
  void (*load)(const char* memory, int64_t stride, int64_t count, T* values, int64_t step);
  void (*store)(char* memory, int64_t stride, int64_t count, const T* values);
};

template <class T, class M>
constexpr Access<T> access_as() {
  return {[](const char* memory, int64_t stride, int64_t count, T* values, int64_t step) {
            const M* from = reinterpret_cast<const M*>(memory);
            for (int64_t i = 0; i < count; ++i) {
              values[i * step] = Convert<T, M>::load(from[i * stride]);
            }
          },
          [](char* memory, int64_t stride, int64_t count, const T* values) {
            M* to = reinterpret_cast<M*>(memory);
            for (int64_t i = 0; i < count; ++i) {
              to[i * stride] = Convert<T, M>::store(values[i]);
            }
          }};
}

// Of T and a type of memory that the table of types (types.h) pairs with it.
template <class T>
inline Access<T> access(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
      return access_as<T, int8_t>();
    case CUDA_R_32I:
      return access_as<T, int32_t>();
    case CUDA_R_16F:
      return access_as<T, __half>();
    case CUDA_R_16BF:
      return access_as<T, __nv_bfloat16>();
    case CUDA_R_64F:
      return access_as<T, double>();
    default:
      return access_as<T, float>();
  }
}
template <>
inline Access<Complex<float>> access(cudaDataType) {
  return access_as<Complex<float>, Complex<float>>();
}
template <>
inline Access<Complex<double>> access(cudaDataType) {
  return access_as<Complex<double>, Complex<double>>();
}

}  // namespace anvil::simulator::blas
