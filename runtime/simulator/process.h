// What there is once per process and once per thread, and the frame of every
// API function.
//
// The simulator has no static object with a constructor or destructor: nvcc's
// registrations run before and after them. What needs construction is made by
// the first call and never destroyed.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "runtime/simulator/config.h"
#include "runtime/simulator/injection.h"

namespace anvil::simulator {

enum class Phase : int {
  kFresh,     // no call was made yet
  kReady,     // devices exist
  kNoDevice,  // ANVIL_SIMULATOR_DEVICES=0
  kRefused,   // bad configuration, or no address space: refusal() says why
  kForked,    // child of a process that had been past kFresh
};

extern std::atomic<Phase> phase;

// Valid from kReady on.
extern Config config;

// The thread's state, as CUDA keeps it.
struct Thread {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  bool inside_stream = false;  // a host function or a kernel body is running
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};
extern thread_local constinit Thread current_thread;

// Why the phase is kRefused or kForked, else null. Static storage.
const char* refusal();

// Brings the process past kFresh if need be. The error that calls get in the
// phase reached, or cudaSuccess.
cudaError_t initialise();

// The frame of an API function: refuses what may not run now, fails if that is
// planned (injection.h), and keeps the thread's last error. `body(thread)`
// returns a cudaError_t; `function` is the caller's name.
template <class Body>
inline cudaError_t api(Body&& body, const char* function = __builtin_FUNCTION()) {
  Thread& thread = current_thread;
  cudaError_t code = cudaSuccess;
  if (phase.load(std::memory_order_acquire) != Phase::kReady) [[unlikely]] {
    code = initialise();
  }
  if (thread.inside_stream) [[unlikely]] {
    code = cudaErrorNotPermitted;
  }
  if (faults_planned.load(std::memory_order_relaxed) && code == cudaSuccess) [[unlikely]] {
    code = planned_failure(function, thread.device);
  }
  if (code == cudaSuccess) [[likely]] {
    code = body(thread);
  }
  if (code != cudaSuccess) [[unlikely]] {
    thread.last_error = code;
  }
  return code;
}

}  // namespace anvil::simulator

// Marks what the library exports; all else is hidden.
#define ANVIL_EXPORT extern "C" __attribute__((visibility("default")))
