// A condition that kernels check on their data, as CUDA_KERNEL_ASSERT does.
#pragma once

#include "aten_ops/kernels/macros.h"

#if !defined(__CUDACC__)
#include <cstdio>
#include <stdexcept>
#endif

namespace anvil::kernels {

// Fails the launch asynchronously with cudaErrorAssert, which is sticky, if
// `condition` is false: on CUDA as assert() does, on the host by an exception
// that the simulator turns into the error. `message` is a literal and goes to
// stderr. `text`, where it is known only at run time, is what the host prints
// instead; CUDA's report can't read a kernel's arguments.
ANVIL_DEVICE void device_check(bool condition,
                               const char* message,
                               [[maybe_unused]] const char* text = nullptr) {
  if (condition) {
    return;
  }
#if defined(__CUDA_ARCH__)
  __assert_fail(message, "anvil", 0, "device_check");
  __builtin_unreachable();
#elif !defined(__CUDACC__)
  const char* shown = text != nullptr ? text : message;
  std::fprintf(stderr, "device-side assertion failed: %s\n", shown);
  throw std::logic_error(shown);
#endif
}

}  // namespace anvil::kernels
