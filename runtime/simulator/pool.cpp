// Stream-ordered allocation (CUDA C++ Programming Guide, "Stream-Ordered Memory
// Allocator"). Each device has its default pool and no other.
//
// Memory is taken in the call and given back when the stream reaches the free.
// Nothing is cached: what a pool has reserved is what is in use, whatever its
// release threshold.
#include <algorithm>

#include "runtime/simulator/allocations.h"
#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

// Guarded by the lock of the allocation table.
struct Pool {
  uint64_t used = 0;
  uint64_t most_used = 0;
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};
};

constinit Pool pools[kMaxDevices]{};

cudaMemPool_t handle_of(int device) { return reinterpret_cast<cudaMemPool_t>(&pools[device]); }

Pool* find_pool(cudaMemPool_t handle) {
  Pool* pool = reinterpret_cast<Pool*>(handle);
  return pool >= pools && pool < pools + config.devices ? pool : nullptr;
}

// Null for what is no reuse policy.
int* reuse_policy(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      return &pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
    default:
      return nullptr;
  }
}

uint64_t* counter(Pool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.most_used;
    default:
      return nullptr;
  }
}

}  // namespace

void execute_free(const FreeWork& work) {
  {
    const std::lock_guard lock(memory->mutex);
    const auto found = memory->blocks.find(work.begin);
    if (found == memory->blocks.end()) {
      return;
    }
    pools[found->second.device].used -= found->second.reserved;
  }
  release(work.begin);
}

ANVIL_EXPORT cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t handle) {
  return api([&](Thread& thread) {
    Stream* stream = resolve(handle, thread);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t refused = admit_outside_capture(*stream)) {
      return refused;
    }
    if (const cudaError_t refused = admit(*stream)) {
      return refused;
    }
    *pointer = nullptr;
    if (bytes == 0) {
      return cudaSuccess;
    }
    const int device = stream->device->index;
    if (const cudaError_t code = allocate(device, bytes, Origin::kPool, pointer)) {
      return code;
    }
    const std::lock_guard lock(memory->mutex);
    Pool& pool = pools[device];
    pool.used += whole_pages(bytes);
    pool.most_used = std::max(pool.most_used, pool.used);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  return api([&](Thread& thread) {
    Stream* stream = resolve(handle, thread);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (pointer == nullptr) {
      return cudaSuccess;
    }
    if (const cudaError_t refused = admit_outside_capture(*stream)) {
      return refused;
    }
    {
      const std::lock_guard lock(memory->mutex);
      const auto found = memory->blocks.find(static_cast<char*>(pointer));
      if (found == memory->blocks.end() || found->second.origin != Origin::kPool) {
        return cudaErrorInvalidValue;
      }
      found->second.origin = Origin::kFreeing;
    }
    Submission work(*stream, Work::kFree);
    work->free = {static_cast<char*>(pointer)};
    work.commit();
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api([&](Thread&) {
    if (pool == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (device < 0 || device >= config.devices) {
      return cudaErrorInvalidDevice;
    }
    *pool = handle_of(device);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

ANVIL_EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle,
                                                 cudaMemPoolAttr attribute,
                                                 void* value) {
  return api([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    Pool* pool = find_pool(handle);
    if (pool == nullptr || value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (const int* policy = reuse_policy(*pool, attribute)) {
      *static_cast<int*>(value) = *policy;
      return cudaSuccess;
    }
    if (const uint64_t* count = counter(*pool, attribute)) {
      *static_cast<uint64_t*>(value) = *count;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

// The high marks can be set to zero, and then start from what is in use.
ANVIL_EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle,
                                                 cudaMemPoolAttr attribute,
                                                 void* value) {
  return api([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    Pool* pool = find_pool(handle);
    if (pool == nullptr || value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (int* policy = reuse_policy(*pool, attribute)) {
      *policy = *static_cast<int*>(value);
      return cudaSuccess;
    }
    uint64_t* count = counter(*pool, attribute);
    if (count == &pool->release_threshold) {
      *count = *static_cast<uint64_t*>(value);
      return cudaSuccess;
    }
    if (count == &pool->most_used && *static_cast<uint64_t*>(value) == 0) {
      *count = pool->used;
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

// Every device may use every pool here.
ANVIL_EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle,
                                              const cudaMemAccessDesc* access,
                                              size_t count) {
  return api([&](Thread&) {
    if (find_pool(handle) == nullptr || (access == nullptr && count > 0)) {
      return cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count; ++i) {
      if (access[i].location.type != cudaMemLocationTypeDevice || access[i].location.id < 0 ||
          access[i].location.id >= config.devices) {
        return cudaErrorInvalidDevice;
      }
    }
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return api(
      [&](Thread&) { return find_pool(handle) != nullptr ? cudaSuccess : cudaErrorInvalidValue; });
}

// Graphs allocate no memory of their own here (cudaGraphAddMemAllocNode is refused).
ANVIL_EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                        cudaGraphMemAttributeType,
                                                        void* value) {
  return api([&](Thread&) {
    if (device < 0 || device >= config.devices) {
      return cudaErrorInvalidDevice;
    }
    if (value == nullptr) {
      return cudaErrorInvalidValue;
    }
    *static_cast<uint64_t*>(value) = 0;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                                        cudaGraphMemAttributeType attribute,
                                                        void* value) {
  return api([&](Thread&) {
    if (device < 0 || device >= config.devices) {
      return cudaErrorInvalidDevice;
    }
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    return high && value != nullptr && *static_cast<uint64_t*>(value) == 0 ? cudaSuccess
                                                                           : cudaErrorInvalidValue;
  });
}

}  // namespace anvil::simulator
