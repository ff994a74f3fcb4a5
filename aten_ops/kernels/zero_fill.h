// Zeroes in device memory that a kernel expects there: counters of last_block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

namespace anvil::kernels {

#if defined(ANVIL_SIMT_CHECKER)
// The checker runs launches at once, on host memory.
inline void zero_fill(void* memory, size_t bytes, cudaStream_t) { std::memset(memory, 0, bytes); }
#else
// Enqueues the fill on `stream`. Throws runtime::Error if it is refused.
void zero_fill(void* memory, size_t bytes, cudaStream_t stream);
#endif

}  // namespace anvil::kernels
