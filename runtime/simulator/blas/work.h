// Work on the simulator's streams, and its view of memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "runtime/simulator/blas/call.h"
#include "runtime/simulator/extension.h"

namespace anvil::simulator::blas {

// Where a kernel reads or writes what `pointer` names. Pageable host memory,
// which a GPU cannot reach, becomes an address that faults, after a line that
// names the call: the launch then fails as it does on a GPU.
void* kernel_address_of(const Call& call, const void* pointer);

template <class T>
T* kernel_address(const Call& call, T* pointer) {
  return static_cast<T*>(kernel_address_of(call, pointer));
}

// The same inside a kernel, for a pointer that device memory holds.
void* translate(const void* pointer);

// The simulator's functions.
struct Simulator {
  decltype(&::cudaGetDevice) cudaGetDevice;
  decltype(&::cudaLaunchKernel) cudaLaunchKernel;
  decltype(&::cudaStreamSynchronize) cudaStreamSynchronize;
  decltype(&::anvilSimulatorRegisterKernel) anvilSimulatorRegisterKernel;
  decltype(&::anvilSimulatorKernelAddress) anvilSimulatorKernelAddress;
  decltype(&::anvilSimulatorDeviceRange) anvilSimulatorDeviceRange;
};

// Of the simulator that is the process's CUDA runtime, if it is; else of the one
// beside this library. Looked up and not linked: the process may have either,
// and a real libcudart too. Ends the process if there is none.
const Simulator& simulator();

cublasStatus_t enqueue_kernel(Call& call,
                              const anvilKernel& kernel,
                              const void* argument,
                              cudaStream_t stream);

// Runs work() on `stream`, as a kernel of the call's name. The work is copied;
// pointers in it are kernel addresses.
template <class Work>
cublasStatus_t enqueue(Call& call, const Work& work, cudaStream_t stream) {
  static_assert(std::is_trivially_copyable_v<Work>);
  static constexpr size_t bytes = sizeof(Work);
  const anvilKernel kernel{
      call.name,
      [](const anvilLaunch* launch) { (*static_cast<const Work*>(launch->arguments[0]))(); },
      &bytes, 1};
  return enqueue_kernel(call, kernel, &work, stream);
}

}  // namespace anvil::simulator::blas
