// What can be asked about a kernel, and set.
#include <algorithm>
#include <cstring>

#include "runtime/simulator/kernels.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/profile.h"

namespace anvil::simulator {
namespace {

constexpr int kMaxThreads = 1024;
constexpr size_t kDefaultShared = 48 * 1024;
// What kernels are said to need, as there is no compiler to ask.
constexpr int kRegistersPerThread = 32;

}  // namespace

size_t shared_limit(const Kernel& kernel) {
  const int limit = kernel.dynamic_shared_limit.load(std::memory_order_relaxed);
  return limit > 0 ? static_cast<size_t>(limit) : kDefaultShared;
}

ANVIL_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                               const void* function) {
  return api([&](Thread&) {
    if (attributes == nullptr) {
      return cudaErrorInvalidValue;
    }
    const Kernel* kernel = find_kernel(function);
    if (kernel == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    std::memset(attributes, 0, sizeof(*attributes));
    attributes->maxThreadsPerBlock = kMaxThreads;
    attributes->numRegs = kRegistersPerThread;
    attributes->binaryVersion = attributes->ptxVersion =
        config.profile->major * 10 + config.profile->minor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_limit(*kernel));
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
  });
}

// A handle is the address of the host function.
ANVIL_EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                         cudaFuncAttribute attribute,
                                                         int value,
                                                         int) {
  return cudaFuncSetAttribute(static_cast<const void*>(kernel), attribute, value);
}

ANVIL_EXPORT cudaError_t cudaFuncSetAttribute(const void* function,
                                              cudaFuncAttribute attribute,
                                              int value) {
  return api([&](Thread&) {
    Kernel* kernel = find_kernel(function);
    if (kernel == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<size_t>(value) > config.profile->shared_per_block_optin) {
          return cudaErrorInvalidValue;
        }
        kernel->dynamic_shared_limit.store(value);
        return cudaSuccess;
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

// Limited by threads, blocks, shared memory and registers of a multiprocessor.
ANVIL_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       const void* function,
                                                                       int block_size,
                                                                       size_t shared_bytes) {
  return api([&](Thread&) {
    if (blocks == nullptr || block_size <= 0) {
      return cudaErrorInvalidValue;
    }
    const Kernel* kernel = find_kernel(function);
    if (kernel == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    const Profile& profile = *config.profile;
    if (block_size > kMaxThreads || shared_bytes > shared_limit(*kernel)) {
      *blocks = 0;
      return cudaSuccess;
    }
    constexpr int kRegisters = 65536;
    constexpr size_t kReservedShared = 1024;
    const int threads = (block_size + 31) / 32 * 32;
    const size_t by_shared = profile.shared_per_multiprocessor / (shared_bytes + kReservedShared);
    *blocks =
        std::min({profile.threads_per_multiprocessor / threads, profile.blocks_per_multiprocessor,
                  static_cast<int>(by_shared), kRegisters / (threads * kRegistersPerThread)});
    return cudaSuccess;
  });
}

// The flag is about caching, which takes no resources here.
ANVIL_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t shared_bytes, unsigned flags) {
  if ((flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

}  // namespace anvil::simulator
