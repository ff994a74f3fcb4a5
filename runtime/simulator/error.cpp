// Names, texts and the thread's last error.
#include <cstdio>
#include <cstring>

#include "runtime/simulator/device.h"
#include "runtime/simulator/error.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

// The headers of CUDA 13.0 lack these; where there are any, they have the same values.
constexpr auto cudaErrorVersionTranslation = static_cast<cudaError_t>(10);
constexpr auto cudaErrorStreamDetached = static_cast<cudaError_t>(917);

constexpr ErrorText kErrors[] = {
#define X(enumerator, text) {enumerator, #enumerator, text},
#include "runtime/simulator/errors.inc"
#undef X
};

const ErrorText* find(cudaError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) {
      return &error;
    }
  }
  return nullptr;
}

// The context's sticky error comes before the thread's own.
cudaError_t last_error(const Thread& thread) {
  if (phase.load(std::memory_order_acquire) == Phase::kReady) {
    if (const cudaError_t failed = failure(thread.device)) {
      return failed;
    }
  }
  return thread.last_error;
}

}  // namespace

bool find_error(const char* name, cudaError_t* code) {
  for (const ErrorText& error : kErrors) {
    if (std::strcmp(error.name, name) == 0) {
      *code = error.code;
      return true;
    }
  }
  return false;
}

ANVIL_EXPORT cudaError_t cudaGetLastError() {
  Thread& thread = current_thread;
  const cudaError_t code = last_error(thread);
  thread.last_error = cudaSuccess;
  return code;
}

ANVIL_EXPORT cudaError_t cudaPeekAtLastError() { return last_error(current_thread); }

ANVIL_EXPORT const char* cudaGetErrorName(cudaError_t code) {
  const ErrorText* error = find(code);
  return error != nullptr ? error->name : "unrecognized error code";
}

// CUDA's text; for a process that cannot use the device also why.
ANVIL_EXPORT const char* cudaGetErrorString(cudaError_t code) {
  const char* reason = code == cudaErrorInitializationError ? refusal() : nullptr;
  if (reason != nullptr) {
    static thread_local char text[600];
    std::snprintf(text, sizeof(text), "initialization error: %s", reason);
    return text;
  }
  const ErrorText* error = find(code);
  return error != nullptr ? error->text : "unrecognized error code";
}

}  // namespace anvil::simulator
