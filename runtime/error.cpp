#include "runtime/error.h"

#include <atomic>

#include "runtime/error_hook.h"
#include "runtime/table.h"

namespace anvil::runtime {
namespace {

constinit std::atomic<ErrorThrower> error_thrower{nullptr};

std::string describe(cudaError_t code, const char* call) {
  const Table& cuda = table();
  return std::string(cuda.cudaGetErrorName(code)) + ": " + cuda.cudaGetErrorString(code) + " (in " +
         call + ", driver: " + driver_name() + ")";
}

}  // namespace

Error::Error(cudaError_t code, const char* call)
    : std::runtime_error(describe(code, call)), code_(code) {}

Error::Error(const std::string& message) : std::runtime_error(message) {}

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]] {
    table().cudaGetLastError();
    if (const ErrorThrower thrower = error_thrower.load(std::memory_order_relaxed)) {
      thrower(code, call);
    }
    throw Error(code, call);
  }
}

void set_error_thrower(ErrorThrower thrower) noexcept {
  error_thrower.store(thrower, std::memory_order_relaxed);
}

void ignore(cudaError_t code) noexcept {
  if (code != cudaSuccess) {
    table().cudaGetLastError();
  }
}

}  // namespace anvil::runtime
