// The functions behind LayerNormKernels.
#pragma once

#include "aten_ops/kernels/layer_norm.h"

namespace anvil::kernels {

void layer_norm_forward(const LayerNorm&, cudaStream_t);
size_t layer_norm_backward_scratch_bytes(int64_t rows, int64_t columns);
void layer_norm_backward(const LayerNormBackward&, cudaStream_t);

}  // namespace anvil::kernels
