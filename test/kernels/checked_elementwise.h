// Operators on the elementwise driver, for its test.
#pragma once

#include <cuda_runtime_api.h>
#include "aten_ops/kernels/iterator.h"

namespace anvil::kernels {

// a + b in float.
void checked_add(const Iterator& iterator, cudaStream_t stream);

}  // namespace anvil::kernels
