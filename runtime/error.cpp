#include "runtime/error.h"

#include "runtime/table.h"

namespace anvil::runtime {
namespace {

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
    throw Error(code, call);
  }
}

void ignore(cudaError_t code) noexcept {
  if (code != cudaSuccess) {
    table().cudaGetLastError();
  }
}

}  // namespace anvil::runtime
