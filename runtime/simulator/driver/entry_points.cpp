// Driver functions by name: cudaGetDriverEntryPoint and its kin. A name that is
// unknown is not found, as one that is newer than a driver: callers ask to learn
// what there is.
#include <cstring>

#include "runtime/simulator/driver/driver.h"

namespace anvil::simulator {
namespace {

struct EntryPoint {
  const char* name;  // without the suffix of a version
  void* function;
};

void* find(const char* name) {
  // Not a constant: the function's own name may be a macro for its version.
  static const EntryPoint entry_points[] = {
#define X(name) {#name, reinterpret_cast<void*>(&name)},
#include "runtime/simulator/driver/entry_points.inc"
#undef X
  };
  for (const EntryPoint& entry : entry_points) {
    if (std::strcmp(entry.name, name) == 0) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace

ANVIL_EXPORT CUresult cuGetProcAddress(
    const char* name, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* status) {
  if (name == nullptr || function == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *function = find(name);
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

ANVIL_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* name,
                                                          void** function,
                                                          unsigned,
                                                          unsigned long long,
                                                          cudaDriverEntryPointQueryResult* status) {
  return api([&](Thread&) {
    if (name == nullptr || function == nullptr) {
      return cudaErrorInvalidValue;
    }
    *function = find(name);
    if (status != nullptr) {
      *status =
          *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
      return cudaSuccess;
    }
    return *function != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

ANVIL_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* name,
                                                 void** function,
                                                 unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDA_VERSION, flags, status);
}

}  // namespace anvil::simulator
