// The frame of a driver API function. The driver API (cu*) is here as far as
// the runtime API lacks something, or as programs on the runtime API look it up
// by cudaGetDriverEntryPoint.
#pragma once

#include <cuda.h>

#include "runtime/simulator/process.h"

namespace anvil::simulator {

// The errors of both APIs have the same numbers.
inline CUresult driver_error(cudaError_t code) { return static_cast<CUresult>(code); }

// As `api`, but the runtime's last error stays as it is. `body(thread)` returns
// a CUresult.
template <class Body>
inline CUresult driver(Body&& body, const char* function = __builtin_FUNCTION()) {
  if (phase.load(std::memory_order_acquire) != Phase::kReady) {
    if (const cudaError_t code = initialise()) {
      return driver_error(code);
    }
  }
  Thread& thread = current_thread;
  if (thread.inside_stream) {
    return CUDA_ERROR_NOT_PERMITTED;
  }
  if (faults_planned.load(std::memory_order_relaxed)) [[unlikely]] {
    if (const cudaError_t code = planned_failure(function, thread.device)) {
      return driver_error(code);
    }
  }
  return body(thread);
}

inline bool is_device(CUdevice device) { return device >= 0 && device < config.devices; }

}  // namespace anvil::simulator
