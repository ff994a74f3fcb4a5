// Division by a number that is known at launch, without a division: for the
// index arithmetic of strided kernels.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/macros.h"

namespace anvil::kernels {

// n / divisor for n < 2^31, as a product with a magic number and a shift
// (Granlund and Montgomery, Division by Invariant Integers using
// Multiplication, PLDI 1994).
struct Divider {
  uint32_t divisor = 1;
  uint32_t magic = 1;
  uint32_t shift = 0;

  Divider() = default;
  explicit Divider(uint32_t d) : divisor(d) {
    while (shift < 32 && (uint64_t{1} << shift) < d) {
      ++shift;
    }
    const uint64_t one = 1;
    magic = static_cast<uint32_t>(((one << 32) * ((one << shift) - d)) / d + 1);
  }

  ANVIL_DEVICE uint32_t quotient(uint32_t n) const {
    const uint32_t high = static_cast<uint32_t>((static_cast<uint64_t>(n) * magic) >> 32);
    return (high + n) >> shift;
  }
};

}  // namespace anvil::kernels
