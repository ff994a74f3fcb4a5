// The kernels that host code registered, by the address of their handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/simulator/extension.h"

namespace anvil::simulator {

// What a handle stands for. `host` is null for a kernel that only nvcc's
// registration names: it has device code, which the simulator cannot run, but
// may count (ANVIL_SIMULATOR_KERNELS).
struct Kernel {
  std::atomic<const anvilKernel*> host{nullptr};
  const char* name = "";                     // mangled, if nvcc registered it
  std::atomic<int> dynamic_shared_limit{0};  // cudaFuncSetAttribute; 0: the default
  mutable std::atomic<uint64_t> counted{0};  // launches that did nothing
};

// Null if the function was never registered. Any thread; takes no lock.
Kernel* find_kernel(const void* function);

// Bytes of dynamic shared memory that a launch may ask for.
size_t shared_limit(const Kernel& kernel);

// "void at::native::fill<float>(...)" for what nvcc calls it.
std::string demangled(const char* name);

// The kernel of `function`, made if need be.
Kernel* add_kernel(const void* function, const char* name);

}  // namespace anvil::simulator
