// The accumulating functions of IndexKernels (index.h).
#pragma once

#include "aten_ops/kernels/index.h"

namespace anvil::kernels {

void scatter_reduce(const IndexWalk&, ScalarType, ScatterReduction, cudaStream_t);
void row_offsets(const IndexWalk&, int64_t skip, int64_t* offsets, cudaStream_t);
void scatter_in_order(const IndexWalk&, ScalarType, bool add, const int64_t* offsets, cudaStream_t);

}  // namespace anvil::kernels
