// Launch in the SIMT checker: runs the grid at once, in the calling thread, when
// the work before it in the stream is done.
#pragma once

#include "aten_ops/kernels/launch.h"
#include "runtime/table.h"

namespace anvil::kernels {

namespace simt {
// Runs body(kernel) in `threads` fibers for each block, on a copy of the
// `kernel_bytes` bytes of *kernel. Rethrows what a thread throws. Defined by
// test/simt_checker.
void run_grid(const char* name,
              int64_t blocks,
              int threads,
              size_t shared_bytes,
              void (*body)(const void* kernel),
              const void* kernel,
              size_t kernel_bytes);
}  // namespace simt

template <class Kernel>
void entry(const void* kernel) {
  Team team;
  (*static_cast<const Kernel*>(kernel))(team);
}

template <class Kernel>
void launch(const char* name, LaunchConfig config, cudaStream_t stream, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  if (config.blocks <= 0) {
    return;
  }
  runtime::check(runtime::table().cudaStreamSynchronize(stream), name);
  simt::run_grid(name, config.blocks, config.threads, config.shared_bytes, &entry<Kernel>, &kernel,
                 sizeof(Kernel));
}

}  // namespace anvil::kernels
