#include "runtime/simulator/blas/work.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace anvil::simulator::blas {
namespace {

// The kernel address of the last bytes of the last device: a device has more
// addresses than memory, so they are in no allocation, and a kernel faults.
void* unreachable() {
  const anvilDeviceRange range = simulator().anvilSimulatorDeviceRange();
  return const_cast<char*>(range.end) - 64 + range.distance;
}

// A handle whose symbols are the simulator's.
void* open_simulator() {
  if (void* known = dlsym(RTLD_DEFAULT, "anvilSimulatorDeviceRange")) {
    Dl_info info{};
    dladdr(known, &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&open_simulator), &own);
  const std::string path = own.dli_fname ? own.dli_fname : "";
  return dlopen((path.substr(0, path.find_last_of('/') + 1) + "libanvil_simulator.so").c_str(),
                RTLD_NOW | RTLD_LOCAL);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  if (function == nullptr) {
    std::fprintf(stderr, "anvil simulator: cuBLAS's stand-in found no simulator with %s\n", name);
    std::abort();
  }
}

}  // namespace

const Simulator& simulator() {
  static const Simulator functions = [] {
    void* library = open_simulator();
    Simulator found{};
#define ANVIL_FIND(name) find(library, #name, found.name);
    ANVIL_FIND(cudaGetDevice)
    ANVIL_FIND(cudaLaunchKernel)
    ANVIL_FIND(cudaStreamSynchronize)
    ANVIL_FIND(anvilSimulatorRegisterKernel)
    ANVIL_FIND(anvilSimulatorKernelAddress)
    ANVIL_FIND(anvilSimulatorDeviceRange)
#undef ANVIL_FIND
    return found;
  }();
  return functions;
}

void* kernel_address_of(const Call& call, const void* pointer) {
  void* address = nullptr;
  if (pointer == nullptr) {
    return nullptr;
  }
  if (simulator().anvilSimulatorKernelAddress(pointer, &address) != cudaSuccess) {
    report(call, "%p is pageable host memory, which the device cannot reach", pointer);
    return unreachable();
  }
  return address;
}

void* translate(const void* pointer) {
  void* address = nullptr;
  return simulator().anvilSimulatorKernelAddress(pointer, &address) == cudaSuccess ? address
                                                                                   : unreachable();
}

cublasStatus_t enqueue_kernel(Call& call,
                              const anvilKernel& kernel,
                              const void* argument,
                              cudaStream_t stream) {
  if (!call.has_kernel.load(std::memory_order_acquire)) {
    if (simulator().anvilSimulatorRegisterKernel(&call, &kernel) != cudaSuccess) {
      return CUBLAS_STATUS_INTERNAL_ERROR;
    }
    call.has_kernel.store(true, std::memory_order_release);
  }
  void* arguments[] = {const_cast<void*>(argument)};
  return simulator().cudaLaunchKernel(&call, dim3(1), dim3(1), arguments, 0, stream) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace anvil::simulator::blas
