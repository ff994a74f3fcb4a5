// The functions behind SoftmaxKernels, and what forward and backward share.
#pragma once

#include "aten_ops/kernels/softmax.h"

namespace anvil::kernels {

// Longer rows are read several times instead of being kept in shared memory.
inline constexpr size_t kStagedRowBytes = 16 * 1024;
// Whether a row that was just read or written costs no more to read again than
// shared memory: on the host, where both are in the first-level cache.
#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
inline constexpr bool kRowsAreCached = false;
#else
inline constexpr bool kRowsAreCached = true;
#endif
// Columns that a block handles where the dimension is not the last one.
inline constexpr int64_t kColumnTile = 256;

// Threads of a block that handles rows of `elements`: four elements for each.
inline int row_threads(int64_t elements, int most = 256) {
  int threads = 32;
  while (threads < most && threads * 4 < elements) {
    threads *= 2;
  }
  return threads;
}

SoftmaxKernels::Forward softmax;
SoftmaxKernels::Forward log_softmax;
SoftmaxKernels::Backward softmax_backward;
SoftmaxKernels::Backward log_softmax_backward;

}  // namespace anvil::kernels
