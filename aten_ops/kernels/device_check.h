// A condition that kernels check on their data, as CUDA_KERNEL_ASSERT does.
#pragma once

#include "aten_ops/kernels/macros.h"

#if !defined(__CUDACC__)
#include <cstdio>
#include <stdexcept>
#endif

namespace anvil::kernels {

// Fails the launch asynchronously if `condition` is false: on CUDA by a
// device-side trap, on the host by an exception that the simulator turns into
// cudaErrorAssert, which is sticky. The message goes to stderr, as a device-side assertion's does.
ANVIL_DEVICE void device_check(bool condition, const char* message) {
  if (condition) {
    return;
  }
#if defined(__CUDA_ARCH__)
  __trap();
#elif !defined(__CUDACC__)
  std::fprintf(stderr, "device-side assertion failed: %s\n", message);
  throw std::logic_error(message);
#endif
}

}  // namespace anvil::kernels
