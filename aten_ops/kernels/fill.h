// Fill: one value in every element of the output.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/iterator.h"

namespace anvil::kernels {

struct FillKernels {
  // operands: output, immediate of the output's dtype. Any dtype.
  void (&fill)(const Iterator&, cudaStream_t);
};

extern const FillKernels fill_kernels;

}  // namespace anvil::kernels
