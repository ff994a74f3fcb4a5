// Beside nvcc's code, which cannot see the table of entry points.
#include "aten_ops/kernels/zero_fill.h"

#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::kernels {

void zero_fill(void* memory, size_t bytes, cudaStream_t stream) {
  ANVIL_CUDA_CHECK(runtime::table().cudaMemsetAsync(memory, 0, bytes, stream));
}

}  // namespace anvil::kernels
