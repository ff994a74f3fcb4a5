// Launch under nvcc.
#pragma once

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

// Blocks of max_threads that a multiprocessor must have registers for at once:
// Kernel::kMinBlocks, or 1. Always given to the compiler: from the size alone it
// spills a few registers where that makes room for one block more (CUDA C++
// Programming Guide, "Launch Bounds").
template <class Kernel, class = void>
inline constexpr int min_blocks = 1;
template <class Kernel>
inline constexpr int min_blocks<Kernel, std::void_t<decltype(Kernel::kMinBlocks)>> =
    Kernel::kMinBlocks;

template <class Kernel>
__global__ void __launch_bounds__(max_threads<Kernel>, min_blocks<Kernel>)
    entry(const __grid_constant__ Kernel kernel) {
  Team team;
  kernel(team);
}

template <class Kernel>
void launch(const char* name, LaunchConfig config, cudaStream_t stream, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  if (config.blocks <= 0) {
    return;
  }
  // Above 48 KiB a kernel has to ask for its shared memory.
  if (config.shared_bytes > 48 * 1024) {
    runtime::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&entry<Kernel>),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(config.shared_bytes)),
                   name);
  }
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(config.blocks, INT_MAX));
  entry<Kernel><<<blocks, config.threads, config.shared_bytes, stream>>>(kernel);
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) {
    runtime::check(code, name);
  }
}

}  // namespace anvil::kernels
