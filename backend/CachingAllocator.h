// The caching allocator of device memory.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <cuda_runtime_api.h>

#include <vector>

#include "backend/Macros.h"

namespace anvil {

// The process's allocator, registered for PrivateUse1. Thread-safe. Memory is
// handed out on the current device and stream of the calling thread; it may be
// reused on that stream at once when it is freed, elsewhere after
// recordStream()'s streams have passed. The context of its DataPtr is not the
// address, so raw_deleter() is null. Deleters never wait and never throw.
ANVIL_API c10::DeviceAllocator* getDeviceAllocator();

// Its segments and their blocks, by address; those of every device.
ANVIL_API std::vector<c10::CachingDeviceAllocator::SegmentInfo> memory_snapshot();

// At most `fraction` (in (0, 1]) of the device's memory is reserved from now on.
ANVIL_API void set_memory_fraction(double fraction, c10::DeviceIndex device);
ANVIL_API double get_memory_fraction(c10::DeviceIndex device);

// Memory outside of tensors: owned by the caller until raw_free(), which throws
// if `pointer` did not come from raw_allocate().
ANVIL_API void* raw_allocate(size_t bytes);
ANVIL_API void raw_free(void* pointer);

}  // namespace anvil
