// Pinned, registered and managed memory.
#include <cstdlib>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/allocations.h"
#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/poison.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

cudaError_t allocate_host(void** pointer, size_t bytes, const HostBlock& block) {
  if (bytes > SIZE_MAX - kPage) {
    return cudaErrorMemoryAllocation;
  }
  void* allocated = std::aligned_alloc(kPage, whole_pages(bytes));
  if (allocated == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(allocated) + bytes, whole_pages(bytes) - bytes);
  const std::lock_guard lock(memory->mutex);
  memory->host_blocks.emplace(static_cast<char*>(allocated), block);
  *pointer = allocated;
  return cudaSuccess;
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return api([&](Thread& thread) {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (pointer == nullptr || (flags & ~kKnown) != 0) {
      return cudaErrorInvalidValue;
    }
    *pointer = nullptr;
    if (bytes == 0) {
      return cudaSuccess;
    }
    if (const cudaError_t refused = admit_unsafe(thread)) {
      return refused;
    }
    return allocate_host(pointer, bytes, {bytes, thread.device, flags, false, false});
  });
}

// Memory that host and device share is host memory here: kernels reach it as
// they reach pinned memory, and nothing migrates.
ANVIL_EXPORT cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return api([&](Thread& thread) {
    if (pointer == nullptr || bytes == 0 ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
      return cudaErrorInvalidValue;
    }
    if (bytes > config.memory) {
      return cudaErrorMemoryAllocation;
    }
    return allocate_host(pointer, bytes,
                         {bytes, use_device(thread.device).index, flags, false, true});
  });
}

ANVIL_EXPORT cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

ANVIL_EXPORT cudaError_t cudaFreeHost(void* pointer) {
  return api([&](Thread& thread) {
    if (pointer == nullptr) {
      return cudaSuccess;
    }
    if (const cudaError_t refused = admit_unsafe(thread)) {
      return refused;
    }
    if (const Location location = locate(pointer);
        (location.place != Place::kPinned && location.place != Place::kManaged) ||
        location.begin != pointer) {
      return cudaErrorInvalidValue;
    }
    wait_for_all_devices();
    {
      const std::lock_guard lock(memory->mutex);
      const auto found = memory->host_blocks.find(static_cast<char*>(pointer));
      if (found == memory->host_blocks.end()) {
        return cudaErrorInvalidValue;
      }
      ASAN_UNPOISON_MEMORY_REGION(pointer, whole_pages(found->second.bytes));
      memory->host_blocks.erase(found);
    }
    std::free(pointer);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return api([&](Thread& thread) {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (pointer == nullptr || bytes == 0) {
      return cudaErrorInvalidValue;
    }
    if ((flags & ~kKnown) != 0) {
      return cudaErrorNotSupported;
    }
    if (is_device_address(pointer)) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(memory->mutex);
    char* begin = static_cast<char*>(pointer);
    const auto next = memory->host_blocks.lower_bound(begin);
    if (find_range(memory->host_blocks, begin) != memory->host_blocks.end() ||
        (next != memory->host_blocks.end() && next->first < begin + bytes)) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    memory->host_blocks.emplace(begin, HostBlock{bytes, thread.device, flags, true, false});
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostUnregister(void* pointer) {
  return api([&](Thread&) {
    if (pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    wait_for_all_devices();
    const std::lock_guard lock(memory->mutex);
    const auto found = memory->host_blocks.find(static_cast<char*>(pointer));
    if (found == memory->host_blocks.end() || !found->second.registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    memory->host_blocks.erase(found);
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
