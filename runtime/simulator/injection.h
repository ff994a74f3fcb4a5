// Planned failures: ANVIL_SIMULATOR_FAULTS, or anvilSimulatorSetFaults.
//
// A plan is a list of faults, separated by commas; N counts from 1, from the
// moment the plan is set:
//   cudaMalloc@3=cudaErrorMemoryAllocation   the third call of cudaMalloc fails
//   *@40=cudaErrorUnknown                    the fortieth call of any function
//   kernel@7=cudaErrorLaunchFailure          the seventh kernel fails when it runs
//   device1@20                               device 1 is lost at the twentieth call
//                                            that is made while it is current
// A call that fails has no effect. An error that CUDA calls sticky (see
// sticky()) stays: every later call on that device gives it, too.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>

#include "runtime/simulator/extension.h"

namespace anvil::simulator {

// Replaces the plan; an empty text is no plan. False if it is not a plan: then
// the plan before stays, and `why` says in one line what is wrong and what is
// allowed. Thread-safe.
bool set_faults(const char* plan, char* why, size_t why_size);

// True while there is a plan; read by every API function.
extern std::atomic<bool> faults_planned;

// The error that this call of `function` has to return, or cudaSuccess. Counts
// the call. `device` is the calling thread's.
cudaError_t planned_failure(const char* function, int device);

// What to enqueue for `kernel`: itself, or a copy whose body throws
// PlannedFailure. Counts the kernel.
const anvilKernel* planned_kernel(const anvilKernel* kernel);

struct PlannedFailure {
  cudaError_t code;
};

// Whether a context that had this error gives no other answer: "the process
// must be terminated and relaunched" in the documentation of cudaError_t.
bool sticky(cudaError_t code);

}  // namespace anvil::simulator
