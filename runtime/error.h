// Errors of the runtime layer.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "runtime/export.h"

namespace anvil::runtime {

// A failed CUDA call: the error's name and text, and the call that returned it.
// The message is one line and holds no path of the machine that built it.
class ANVIL_RUNTIME_API Error : public std::runtime_error {
 public:
  Error(cudaError_t code, const char* call);
  // For failures without a CUDA code (a library that does not load).
  explicit Error(const std::string& message);

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_ = cudaErrorUnknown;
};

// Throws Error if `code` is not cudaSuccess, and clears the thread's
// non-sticky last error, so that it is not reported a second time.
ANVIL_RUNTIME_API void check(cudaError_t code, const char* call);

// As `check`, where nothing may be thrown (destructors, the end of the
// process): an error is dropped after it was cleared.
ANVIL_RUNTIME_API void ignore(cudaError_t code) noexcept;

}  // namespace anvil::runtime

// ANVIL_CUDA_CHECK(table().cudaMalloc(&pointer, bytes));
#define ANVIL_CUDA_CHECK(call) ::anvil::runtime::check((call), #call)
