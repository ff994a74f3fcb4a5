// Short names for the tests of the allocator.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>

#include "backend/CachingAllocator.h"

namespace anvil::test {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using Stats = c10::CachingDeviceAllocator::DeviceStats;

inline constexpr size_t kKiB = 1024;
inline constexpr size_t kMiB = 1024 * kKiB;

inline c10::DataPtr allocate(size_t bytes) { return getDeviceAllocator()->allocate(bytes); }
inline Stats stats(c10::DeviceIndex device = 0) {
  return getDeviceAllocator()->getDeviceStats(device);
}
inline const Stat& all(const StatArray& array) {
  return array[static_cast<size_t>(StatType::AGGREGATE)];
}
inline const Stat& small(const StatArray& array) {
  return array[static_cast<size_t>(StatType::SMALL_POOL)];
}
inline const Stat& large(const StatArray& array) {
  return array[static_cast<size_t>(StatType::LARGE_POOL)];
}

}  // namespace anvil::test
