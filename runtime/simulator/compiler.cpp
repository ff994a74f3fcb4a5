// What nvcc's generated host code calls. A library that nvcc built loads and
// registers; its kernels have only device code, so launching one is an error
// that names it (launch.cpp), unless host code registered a body for the same
// handle with anvilSimulatorRegisterKernel.
//
// Registrations run before main and may come before any call: nothing here
// starts the simulator.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/simulator/kernels.h"
#include "runtime/simulator/launch.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/stream.h"
#include "runtime/simulator/variables.h"

namespace anvil::simulator {
namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// `<<<>>>` pushes before it evaluates the kernel's arguments, which may launch
// kernels themselves.
constexpr int kDepth = 16;
struct Pushed {
  Configuration configurations[kDepth];
  int count;
};
thread_local constinit Pushed pushed{};

}  // namespace

ANVIL_EXPORT void** __cudaRegisterFatBinary(void* fat_binary) { return new void*(fat_binary); }

ANVIL_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

ANVIL_EXPORT void __cudaUnregisterFatBinary(void** handle) { delete handle; }

ANVIL_EXPORT void __cudaRegisterFunction(void**,
                                         const char* host_function,
                                         char*,
                                         const char* device_name,
                                         int,
                                         uint3*,
                                         uint3*,
                                         dim3*,
                                         dim3*,
                                         int*) {
  add_kernel(host_function, device_name);
}

ANVIL_EXPORT void __cudaRegisterVar(
    void**, char* host_variable, char*, const char* name, int, size_t bytes, int, int) {
  add_variable(host_variable, name, bytes);
}

// Managed variables and those of textures have no storage here.
ANVIL_EXPORT void __cudaRegisterManagedVar(
    void**, void**, char*, const char*, int, size_t, int, int) {}
ANVIL_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

ANVIL_EXPORT char __cudaInitModule(void**) { return 1; }

// Not 0 means that the launch does not take place.
ANVIL_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid,
                                                  dim3 block,
                                                  size_t shared_bytes,
                                                  cudaStream_t stream) {
  if (pushed.count == kDepth) {
    current_thread.last_error = cudaErrorLaunchMaxDepthExceeded;
    return 1;
  }
  pushed.configurations[pushed.count++] = {grid, block, shared_bytes, stream};
  return 0;
}

ANVIL_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid,
                                                    dim3* block,
                                                    size_t* shared_bytes,
                                                    void* stream) {
  if (pushed.count == 0) {
    return current_thread.last_error = cudaErrorMissingConfiguration;
  }
  const Configuration& top = pushed.configurations[--pushed.count];
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

// The handle of a kernel is the address of its host function.
ANVIL_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  if (kernel == nullptr) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  if (find_kernel(host_function) == nullptr) {
    return current_thread.last_error = cudaErrorInvalidDeviceFunction;
  }
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

ANVIL_EXPORT cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return __cudaGetKernel(kernel, host_function);
}

ANVIL_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel,
                                            dim3 grid,
                                            dim3 block,
                                            void** arguments,
                                            size_t shared_bytes,
                                            cudaStream_t stream) {
  return cudaLaunchKernel(static_cast<const void*>(kernel), grid, block, arguments, shared_bytes,
                          stream);
}

}  // namespace anvil::simulator
