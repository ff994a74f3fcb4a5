// The caching allocator of device memory.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <cuda_runtime_api.h>

#include "backend/Macros.h"

namespace anvil {

// The process's allocator, registered for PrivateUse1. Thread-safe. Memory is
// handed out on the current device and stream of the calling thread; it may be
// reused on that stream at once when it is freed, elsewhere after
// recordStream()'s streams have passed.
ANVIL_API c10::DeviceAllocator* getDeviceAllocator();

}  // namespace anvil
