#include "runtime/simulator/blas/work.h"

#include <dlfcn.h>

#include <cstdlib>

namespace anvil::simulator::blas {
namespace {

// The kernel address of the last bytes of the last device: a device has more
// addresses than memory, so they are in no allocation, and a kernel faults.
void* unreachable() {
  const anvilDeviceRange range = anvilSimulatorDeviceRange();
  return const_cast<char*>(range.end) - 64 + range.distance;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    std::abort();  // the simulator exports every function of libcudart
  }
}

void* simulator() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&anvilSimulatorKernelAddress), &info);
  return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

}  // namespace

const Cuda& cuda() {
  static const Cuda functions = [] {
    void* library = simulator();
    Cuda found{};
    find(library, "cudaGetDevice", found.cudaGetDevice);
    find(library, "cudaLaunchKernel", found.cudaLaunchKernel);
    find(library, "cudaStreamSynchronize", found.cudaStreamSynchronize);
    return found;
  }();
  return functions;
}

void* kernel_address_of(const Call& call, const void* pointer) {
  void* address = nullptr;
  if (pointer == nullptr) {
    return nullptr;
  }
  if (anvilSimulatorKernelAddress(pointer, &address) != cudaSuccess) {
    report(call, "%p is pageable host memory, which the device cannot reach", pointer);
    return unreachable();
  }
  return address;
}

void* translate(const void* pointer) {
  void* address = nullptr;
  return anvilSimulatorKernelAddress(pointer, &address) == cudaSuccess ? address : unreachable();
}

cublasStatus_t enqueue_kernel(Call& call,
                              const anvilKernel& kernel,
                              const void* argument,
                              cudaStream_t stream) {
  if (!call.has_kernel.load(std::memory_order_acquire)) {
    if (anvilSimulatorRegisterKernel(&call, &kernel) != cudaSuccess) {
      return CUBLAS_STATUS_INTERNAL_ERROR;
    }
    call.has_kernel.store(true, std::memory_order_release);
  }
  void* arguments[] = {const_cast<void*>(argument)};
  return cuda().cudaLaunchKernel(&call, dim3(1), dim3(1), arguments, 0, stream) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace anvil::simulator::blas
