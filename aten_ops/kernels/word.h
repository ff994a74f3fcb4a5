// Elements as bits, where only their size matters (copy, fill, gather).
#pragma once

#include "aten_ops/kernels/iterator.h"

namespace anvil::kernels {

// The dtype whose elements are moved instead of those of `dtype`: one of Byte,
// Short, Int, Long, ComplexDouble.
constexpr ScalarType word_type(ScalarType dtype) {
  switch (element_size(dtype)) {
    case 1:
      return ScalarType::Byte;
    case 2:
      return ScalarType::Short;
    case 4:
      return ScalarType::Int;
    case 8:
      return ScalarType::Long;
    default:
      return ScalarType::ComplexDouble;
  }
}

// The same problem on bits; every operand has one dtype.
inline Iterator as_words(const Iterator& iterator) {
  Iterator words = iterator;
  for (int k = 0; k < iterator.noperands; ++k) {
    words.operands[k].dtype = word_type(iterator.operands[k].dtype);
  }
  words.common_dtype = words.operands[0].dtype;
  return words;
}

}  // namespace anvil::kernels
