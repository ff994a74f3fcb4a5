// Copy within a device: strides, broadcast and dtype conversion.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"

namespace anvil::kernels {

struct CopyKernels {
  // operands: output, input, of any two dtypes; converts as Tensor.to does.
  // Neither is conjugated or negated: the caller resolves these bits.
  void (&copy)(const Iterator&, cudaStream_t);
};

extern const CopyKernels copy_kernels;

}  // namespace anvil::kernels
