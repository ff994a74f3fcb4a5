// Launch of a kernel: one call for the executors.
//
//   launch<RowSum>("row_sum", {.blocks = rows, .threads = 128}, stream, {in, out, rows});
//
// A kernel is a trivially copyable functor at namespace scope whose
// `operator()(Team&) const` is the body of one block; see team.h. Its name must
// be unique, for profilers and for the checker's reports.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/team.h"
#include "runtime/error.h"

namespace anvil::kernels {

struct LaunchConfig {
  // Blocks of the grid. 0: nothing is launched. More than CUDA's limit is cut
  // to it, so a kernel must stride over its work by Team::blocks().
  int64_t blocks = 1;
  // Threads of a block on the device: a multiple of 32, at most
  // max_threads<Kernel>. The host executor runs a block in one thread.
  int threads = 256;
  // Sum of the sizes given to Team::shared, each rounded up to 16 bytes.
  size_t shared_bytes = 0;
};

// The largest block a kernel may be launched with (it bounds registers):
// Kernel::kMaxThreads, or 512.
template <class Kernel, class = void>
inline constexpr int max_threads = 512;
template <class Kernel>
inline constexpr int max_threads<Kernel, std::void_t<decltype(Kernel::kMaxThreads)>> =
    Kernel::kMaxThreads;

// Bytes that `n` elements of T take of LaunchConfig::shared_bytes.
template <class T>
constexpr size_t shared_size(int64_t n) {
  return (static_cast<size_t>(n) * sizeof(T) + 15) / 16 * 16;
}

// Blocks for `work` units with `per_block` units each, at most `limit`.
constexpr int64_t blocks_for(int64_t work, int64_t per_block, int64_t limit = INT_MAX) {
  return std::min((work + per_block - 1) / per_block, limit);
}

// Enqueues the kernel on `stream` of the current device, without waiting.
// Throws runtime::Error if the launch is refused; what fails later surfaces at
// the next synchronisation. `name` has static storage.
template <class Kernel>
void launch(const char* name, LaunchConfig config, cudaStream_t stream, const Kernel& kernel);

}  // namespace anvil::kernels

#if defined(__CUDACC__)
#include "aten_ops/kernels/launch_cuda.h"
#elif defined(ANVIL_SIMT_CHECKER)
#include "aten_ops/kernels/launch_checked.h"
#else
#include "aten_ops/kernels/launch_host.h"
#endif
