// Launch in the SIMT checker: runs the grid at once, in the calling thread.
#pragma once

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

namespace simt {
// Runs body(kernel) in `threads` fibers for each block. Defined by
// test/simt_checker.
void run_grid(const char* name,
              int64_t blocks,
              int threads,
              size_t shared_bytes,
              void (*body)(const void* kernel),
              const void* kernel);
}  // namespace simt

template <class Kernel>
void entry(const void* kernel) {
  Team team;
  (*static_cast<const Kernel*>(kernel))(team);
}

template <class Kernel>
void launch(const char* name, LaunchConfig config, cudaStream_t, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  simt::run_grid(name, config.blocks, config.threads, config.shared_bytes, &entry<Kernel>,
                 &kernel);
}

}  // namespace anvil::kernels
