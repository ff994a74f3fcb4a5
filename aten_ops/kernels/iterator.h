// An elementwise problem without ATen: what TensorIterator is to ATen's kernels.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// One operand: outputs first, then inputs.
struct Operand {
  // Device address of element (0, ..., 0); null if `is_immediate`.
  void* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  // A CPU scalar, whose value of type `dtype` is in `immediate`; stands for an
  // input only. Its strides are 0.
  bool is_immediate = false;
  alignas(16) unsigned char immediate[16];
};

// The shape and the operands. Dimension 0 is the fastest (as in TensorIterator,
// which has sorted and merged the dimensions). Holds no ownership; a value that
// is read before the kernel's function returns.
//
// numel() and every operand's extent in bytes fit in 31 bits: the glue splits
// larger problems. Outputs do not overlap themselves, and overlap inputs fully
// or not at all.
struct Iterator {
  static constexpr int kMaxDims = 16;
  static constexpr int kMaxOperands = 8;

  int ndim = 0;
  int noutputs = 0;
  int noperands = 0;
  // Type in which the operator computes before it is widened (Half computes in
  // float); Undefined where the operator has none (copy).
  ScalarType common_dtype = ScalarType::Undefined;
  int64_t shape[kMaxDims];
  int64_t strides[kMaxOperands][kMaxDims];  // bytes
  Operand operands[kMaxOperands];

  int ninputs() const { return noperands - noutputs; }
  int64_t numel() const {
    int64_t result = 1;
    for (int d = 0; d < ndim; ++d) {
      result *= shape[d];
    }
    return result;
  }
  // Every operand that is no immediate is dense in the same order.
  bool is_contiguous() const {
    for (int operand = 0; operand < noperands; ++operand) {
      if (operands[operand].is_immediate) {
        continue;
      }
      int64_t expected = element_size(operands[operand].dtype);
      for (int d = 0; d < ndim; ++d) {
        if (strides[operand][d] != expected) {
          return false;
        }
        expected *= shape[d];
      }
    }
    return true;
  }
};

}  // namespace anvil::kernels
