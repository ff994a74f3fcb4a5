// What the simulator exports beside the CUDA runtime API. The table reaches
// these by name, as it does CUDA's functions; they are null on CUDA.
//
// C linkage and plain types: the simulator and its callers share no C++ ABI.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

extern "C" {

// One launch of a host-compiled kernel, as its body sees it. `arguments` holds
// a copy of each argument, owned by the simulator until the body returns.
struct anvilLaunch {
  void** arguments;
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
};

// A kernel that host code provides. The body runs one whole grid, on a worker
// thread of the stream's device, and must not call the CUDA API. A body that
// throws makes the launch fail asynchronously: with cudaErrorAssert if it throws
// a std::logic_error (what a device-side assertion is on CUDA), else with
// cudaErrorLaunchFailure; one that leaves its allocations fails with
// cudaErrorIllegalAddress. The error is sticky, and a line on stderr names the
// kernel.
struct anvilKernel {
  const char* name;  // static storage
  void (*body)(const anvilLaunch* launch);
  const size_t* argument_sizes;  // static storage, `argument_count` elements
  size_t argument_count;
};

// Makes `function` known to cudaLaunchKernel and cudaFuncGetAttributes. Any
// thread; registering the same function again replaces it.
cudaError_t anvilSimulatorRegisterKernel(const void* function, const struct anvilKernel* kernel);

// The address at which a kernel body reads and writes what `pointer` names:
// null and pinned or registered host pointers unchanged, device pointers
// shifted to the kernel view. cudaErrorInvalidValue for any other pointer.
cudaError_t anvilSimulatorKernelAddress(const void* pointer, void** address);

// The range of all device addresses and its distance to the kernel view, so
// that callers can translate device pointers without a call:
// kernel address = pointer + distance if begin <= pointer < end.
struct anvilDeviceRange {
  const char* begin;
  const char* end;
  ptrdiff_t distance;  // bytes
};
struct anvilDeviceRange anvilSimulatorDeviceRange(void);

// True while the simulator executes work with `cudaLaunchHostFunc` semantics
// on the calling thread (CUDA calls are refused there, as on CUDA).
int anvilSimulatorInsideStream(void);

// Replaces the plan of failures, and starts counting anew. The grammar is that
// of ANVIL_SIMULATOR_FAULTS; "" ends it. cudaErrorInvalidValue, and a line on
// stderr that says what is wrong, if `plan` is not one; the plan before stays.
cudaError_t anvilSimulatorSetFaults(const char* plan);

// How many calls of API functions were made since the plan was set (0 without
// one), by all threads: what a plan can strike.
unsigned long long anvilSimulatorCallCount(void);

// For the end of the process: makes later work a no-op, and gives what is queued
// on every device ten seconds to run, without raising errors. What has not
// started then does not run, and a line on stderr says how much that is.
// Idempotent.
void anvilSimulatorDrain(void);
}
