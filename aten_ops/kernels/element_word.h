// Elements that are moved and not computed on: a type for each size.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/dispatch.h"

namespace anvil::kernels {

// An element whose value does not matter.
template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using type = uint8_t;
};
template <>
struct Word<2> {
  using type = uint16_t;
};
template <>
struct Word<4> {
  using type = uint32_t;
};
template <>
struct Word<8> {
  using type = uint64_t;
};
struct alignas(16) Word16 {
  uint64_t low, high;
};
template <>
struct Word<16> {
  using type = Word16;
};

// Calls f(TypeTag<T>{}) for the T of `bytes` bytes: 1, 2, 4, 8 or 16.
template <class F>
void dispatch_bytes(int bytes, F f) {
  switch (bytes) {
    case 1:
      return f(TypeTag<Word<1>::type>{});
    case 2:
      return f(TypeTag<Word<2>::type>{});
    case 4:
      return f(TypeTag<Word<4>::type>{});
    case 8:
      return f(TypeTag<Word<8>::type>{});
    default:
      return f(TypeTag<Word<16>::type>{});
  }
}

}  // namespace anvil::kernels
