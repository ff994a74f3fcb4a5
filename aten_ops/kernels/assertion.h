// A condition in device memory that must hold when the stream reaches it.
#pragma once

#include <cuda_runtime_api.h>

namespace anvil::kernels {

struct AssertionKernels {
  // `condition`: device address of one bool. If it is false then, the launch
  // fails asynchronously and `message` (cut to 255 characters) is printed.
  void (&check)(const bool* condition, const char* message, cudaStream_t stream);
};

extern const AssertionKernels assertion_kernels;

}  // namespace anvil::kernels
