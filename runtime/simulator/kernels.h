// The kernels that host code registered, by the address of their handle.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/simulator/extension.h"

namespace anvil::simulator {

// What a handle stands for. `host` is null for a kernel that only nvcc's
// registration names: it has device code, which the simulator cannot run.
struct Kernel {
  std::atomic<const anvilKernel*> host{nullptr};
  const char* name = "";
  std::atomic<int> dynamic_shared_limit{0};  // cudaFuncSetAttribute; 0: the default
};

// Null if the function was never registered. Any thread; takes no lock.
Kernel* find_kernel(const void* function);

// The kernel of `function`, made if need be.
Kernel* add_kernel(const void* function, const char* name);

}  // namespace anvil::simulator
