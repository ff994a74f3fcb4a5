// What differs between the torch versions that Anvil builds with (2.11 to
// 2.15). Every version test of the backend stands here.
#pragma once

#include <c10/core/AllocatorConfig.h>
#include <torch/headeronly/version.h>

#include <cstddef>

#define ANVIL_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||        \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace anvil {

// Bytes of a segment for requests of 1 to 10 MiB; a setting in newer versions.
inline size_t large_segment_size() {
#if ANVIL_TORCH_AT_LEAST(2, 12)
  return c10::CachingAllocator::AcceleratorAllocatorConfig::large_segment_size();
#else
  return c10::CachingAllocator::kLargeBuffer;
#endif
}

}  // namespace anvil
