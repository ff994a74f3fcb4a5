// Launch under g++: the kernel is registered with the simulator, whose stream
// runs its blocks one after another.
#pragma once

#include "aten_ops/kernels/block_order.h"
#include "aten_ops/kernels/launch.h"
#include "runtime/table.h"

namespace anvil::kernels {

// One whole grid.
template <class Kernel>
void entry(const anvilLaunch* launch) {
  const Kernel kernel = *static_cast<const Kernel*>(launch->arguments[0]);
  const auto blocks = static_cast<int64_t>(launch->grid.x);
  SharedMemory shared(launch->shared_bytes);
  for (const int64_t block : BlockOrder(blocks)) {
    Team team(block, blocks, shared.data());
    kernel(team);
  }
}

// Makes entry<Kernel> known to the simulator; called once for each kernel.
void register_kernel(const char* name,
                     void (*body)(const anvilLaunch*),
                     const size_t* argument_sizes);

template <class Kernel>
void launch(const char* name, LaunchConfig config, cudaStream_t stream, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  if (config.blocks <= 0) {
    return;
  }
  static constexpr size_t kSize = sizeof(Kernel);
  static const bool registered = (register_kernel(name, &entry<Kernel>, &kSize), true);
  (void)registered;
  void* arguments[] = {const_cast<Kernel*>(&kernel)};
  const dim3 grid(static_cast<unsigned>(std::min<int64_t>(config.blocks, INT_MAX)));
  const cudaError_t code = runtime::table().cudaLaunchKernel(
      reinterpret_cast<const void*>(&entry<Kernel>), grid, dim3(config.threads), arguments,
      config.shared_bytes, stream);
  if (code != cudaSuccess) {
    runtime::check(code, name);
  }
}

}  // namespace anvil::kernels
