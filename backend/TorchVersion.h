// What differs between the torch versions that Anvil builds with (2.11 to
// 2.15). Every version test of the backend stands here.
#pragma once

#include <c10/core/AllocatorConfig.h>
#include <torch/headeronly/version.h>

#include <cstddef>
#include <limits>

#define ANVIL_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||        \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

// c10::impl::DeviceGuardImplInterface::isStreamCapturing is not in 2.11.
#if ANVIL_TORCH_AT_LEAST(2, 12)
#define ANVIL_OVERRIDE_IS_STREAM_CAPTURING override
#else
#define ANVIL_OVERRIDE_IS_STREAM_CAPTURING
#endif

// Operators that torch casts to float32 on CUDA beside the list AT_FORALL_FP32.
#if ANVIL_TORCH_AT_LEAST(2, 15)
#define ANVIL_FOR_EACH_FP32_BESIDE_THE_LIST(_) _(linalg_matrix_sqrth)
#else
#define ANVIL_FOR_EACH_FP32_BESIDE_THE_LIST(_)
#endif

namespace anvil {

// Above this size freed pinned memory goes back to the driver at once; a
// setting that 2.11 does not have.
inline size_t largest_cached_pinned_block() {
#if ANVIL_TORCH_AT_LEAST(2, 12)
  return c10::CachingAllocator::AcceleratorAllocatorConfig::pinned_max_cached_size();
#else
  return std::numeric_limits<size_t>::max();
#endif
}

}  // namespace anvil
