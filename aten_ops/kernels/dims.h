// Sizes and strides of a set of dimensions, as cooperative kernels walk them.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/macros.h"

namespace anvil::kernels {

// Dimensions after coalescing; more than that is made contiguous by the glue.
inline constexpr int kMaxDims = 16;

// Quotient of two non-negative numbers; 32-bit division where both fit, which
// is several times faster on the device and on the host.
ANVIL_DEVICE int64_t divide(int64_t a, int64_t b) {
  if (((a | b) >> 32) == 0) {
    return static_cast<int64_t>(static_cast<uint32_t>(a) / static_cast<uint32_t>(b));
  }
  return a / b;
}

// `count` dimensions, innermost first, with the strides (in elements) of
// `kOperands` tensors.
template <int kOperands>
struct Dims {
  int count = 0;
  int64_t size[kMaxDims];
  int64_t stride[kOperands][kMaxDims];

  ANVIL_DEVICE int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < count; ++d) {
      n *= size[d];
    }
    return n;
  }

  // Offset in elements of the `index`th position for one operand; dimension
  // `first` varies fastest, those before it stay at 0.
  ANVIL_DEVICE int64_t offset(int operand, int64_t index, int first = 0) const {
    int64_t result = 0;
    for (int d = first; d + 1 < count; ++d) {
      const int64_t quotient = divide(index, size[d]);
      result += (index - quotient * size[d]) * stride[operand][d];
      index = quotient;
    }
    if (first < count) {
      result += index * stride[operand][count - 1];
    }
    return result;
  }
};

}  // namespace anvil::kernels
