// cudaMalloc and what can be asked about a device's memory.
#include "runtime/simulator/memory.h"

#include "runtime/simulator/allocations.h"
#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {

ANVIL_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return api([&](Thread& thread) {
    if (pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    Device& own = use_device(thread.device);
    if (const cudaError_t failed = failure(own)) {
      return failed;
    }
    if (const cudaError_t refused = admit_unsafe(thread)) {
      return refused;
    }
    if (bytes == 0) {
      *pointer = nullptr;
      return cudaSuccess;
    }
    return allocate(own.index, bytes, Origin::kMalloc, pointer);
  });
}

// Waits for the device, as CUDA's implementation does: kernels in flight may
// use the memory.
ANVIL_EXPORT cudaError_t cudaFree(void* pointer) {
  return api([&](Thread& thread) {
    if (pointer == nullptr) {
      use_device(thread.device);
      return cudaSuccess;
    }
    if (const cudaError_t refused = admit_unsafe(thread)) {
      return refused;
    }
    Origin origin = Origin::kMapped;
    {
      const std::lock_guard lock(memory->mutex);
      const auto found = memory->blocks.find(static_cast<char*>(pointer));
      if (found != memory->blocks.end()) {
        origin = found->second.origin;
      }
    }
    if (origin == Origin::kPool) {
      wait_for_all_devices();
      return cudaFreeAsync(pointer, nullptr);
    }
    if (origin != Origin::kMalloc) {
      return locate(pointer).place == Place::kManaged ? cudaFreeHost(pointer)
                                                      : cudaErrorInvalidValue;
    }
    const Location location = locate(pointer);
    wait_for_all_devices();
    const cudaError_t failed = failure(location.device);
    const cudaError_t code = release(location.begin);
    return failed != cudaSuccess ? failed : code;
  });
}

ANVIL_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api([&](Thread& thread) {
    if (const cudaError_t failed = failure(use_device(thread.device))) {
      return failed;
    }
    const std::lock_guard lock(memory->mutex);
    if (free != nullptr) {
      *free = config.memory - memory->devices[thread.device].used;
    }
    if (total != nullptr) {
      *total = config.memory;
    }
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
