// Pinned host memory, cached by torch's template.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

#include "backend/Macros.h"

namespace anvil {

// The process's pinned memory. Allocating initialises the driver. Memory is
// reused after the work of every stream given to record_event() is done.
// Thread-safe.
ANVIL_API at::HostAllocator* getHostAllocator();

// True if `data` lies in page-locked memory that the driver knows. Never
// throws, never initialises.
ANVIL_API bool is_pinned(const void* data) noexcept;

}  // namespace anvil
