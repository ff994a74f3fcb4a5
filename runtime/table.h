// The table of CUDA entry points: the one way by which Anvil reaches a CUDA
// runtime, be it libcudart or the simulator.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/entry_points.h"
#include "runtime/export.h"
#include "runtime/simulator/extension.h"

// Interfaces between nvcc's generated code and the runtime library, as in
// <crt/host_runtime.h>; `void*` stands for its opaque types.
extern "C" {
void** __cudaRegisterFatBinary(void* fat_binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle,
                            const char* host_function,
                            char* device_function,
                            const char* device_name,
                            int thread_limit,
                            uint3* thread_id,
                            uint3* block_id,
                            dim3* block,
                            dim3* grid,
                            int* warp_size);
void __cudaRegisterVar(void** handle,
                       char* host_variable,
                       char* device_address,
                       const char* device_name,
                       int external,
                       size_t size,
                       int constant,
                       int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid,
                                     dim3 block,
                                     size_t shared_bytes,
                                     cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel,
                               dim3 grid,
                               dim3 block,
                               void** arguments,
                               size_t shared_bytes,
                               cudaStream_t stream);
}

namespace anvil::runtime {

enum class Driver { kCuda, kSimulator };

// One member for each entry point, with the signature of CUDA's header. A
// table is complete or does not exist: loading fails on the first missing name.
struct Table {
#define ANVIL_MEMBER(name) decltype(&::name) name;
  ANVIL_FOR_EACH_ENTRY_POINT(ANVIL_MEMBER)
  ANVIL_FOR_EACH_COMPILER_ENTRY_POINT(ANVIL_MEMBER)
#undef ANVIL_MEMBER

  // The simulator's own functions; null on CUDA.
  decltype(&::anvilSimulatorRegisterKernel) anvilSimulatorRegisterKernel;
  decltype(&::anvilSimulatorKernelAddress) anvilSimulatorKernelAddress;
  decltype(&::anvilSimulatorDeviceRange) anvilSimulatorDeviceRange;
  decltype(&::anvilSimulatorInsideStream) anvilSimulatorInsideStream;
  decltype(&::anvilSimulatorDrain) anvilSimulatorDrain;
};

// The table of this process; loaded by the first call, from any thread, and
// kept until the process ends. Loading opens the library that ANVIL_DRIVER
// names (auto|cuda|simulator, default auto: CUDA if a device answers, else the
// simulator). Throws Error if the value is unknown, the library does not load
// or an entry is missing.
ANVIL_RUNTIME_API const Table& table();

// The driver behind table(); loads it if need be.
ANVIL_RUNTIME_API Driver driver();

// "CUDA" or "simulator", for messages.
ANVIL_RUNTIME_API const char* driver_name();

// True once table() has loaded. Never loads, never throws.
ANVIL_RUNTIME_API bool loaded() noexcept;

}  // namespace anvil::runtime
