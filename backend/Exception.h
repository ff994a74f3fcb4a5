// CUDA errors as torch's errors.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/Macros.h"

namespace anvil::detail {

[[noreturn]] ANVIL_API void throw_accelerator_error(cudaError_t code, const char* call);

// Throws c10::AcceleratorError (torch.AcceleratorError, with error_code) that
// names the error and the call unless `code` is cudaSuccess; clears the
// thread's last error.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]] {
    throw_accelerator_error(code, call);
  }
}

}  // namespace anvil::detail

// ANVIL_CHECK(runtime::table().cudaMalloc(&pointer, bytes));
#define ANVIL_CHECK(call) ::anvil::detail::check((call), #call)
