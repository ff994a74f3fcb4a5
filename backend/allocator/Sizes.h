// How sizes are rounded, and how large the segments are that the driver is
// asked for. Documented for CUDA's allocator: PyTorch, "CUDA semantics", section
// "Memory management", and c10/core/AllocatorConfig.h for the constants.
#pragma once

#include <c10/core/AllocatorConfig.h>

#include <bit>
#include <cstddef>

namespace anvil::allocator {

using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr size_t kMinBlockSize = 512;           // every block is a multiple
inline constexpr size_t kSmallSize = kMiB;             // largest request of the small pool
inline constexpr size_t kSmallSegment = 2 * kMiB;      // segments of the small pool
inline constexpr size_t kMinLargeRequest = 10 * kMiB;  // gets a segment of its own size,
inline constexpr size_t kRoundLarge = 2 * kMiB;        // rounded up to a multiple of this

constexpr size_t round_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// The block size for a request: a multiple of 512 bytes, or, if the user set
// roundup_power2_divisions, the next of the equal steps between powers of two.
inline size_t block_size(size_t bytes) {
  if (bytes <= kMinBlockSize) {
    return kMinBlockSize;
  }
  const size_t divisions = Config::roundup_power2_divisions(bytes);
  if (divisions > 1 && bytes > kMinBlockSize * divisions) {
    const size_t step = std::bit_floor(bytes) / divisions;
    return step == 0 ? round_up(bytes, kMinBlockSize)
                     : round_up(round_up(bytes, step), kMinBlockSize);
  }
  return round_up(bytes, kMinBlockSize);
}

// The segment that the driver is asked for when no cached block fits.
inline size_t segment_size(size_t block) {
  if (block <= kSmallSize) {
    return kSmallSegment;
  }
  return block < kMinLargeRequest ? Config::large_segment_size() : round_up(block, kRoundLarge);
}

}  // namespace anvil::allocator
