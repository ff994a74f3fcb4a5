// Counters of torch.accelerator.memory_stats().
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <cstddef>
#include <cstdint>

namespace anvil::allocator {

using DeviceStats = c10::CachingDeviceAllocator::DeviceStats;

// Adds to a counter of all pools and of one.
class Counter {
 public:
  Counter(c10::CachingAllocator::StatArray& stats, bool is_small)
      : all_(stats[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)]),
        pool_(stats[static_cast<size_t>(is_small ? c10::CachingAllocator::StatType::SMALL_POOL
                                                 : c10::CachingAllocator::StatType::LARGE_POOL)]) {}

  void increase(size_t amount) {
    all_.increase(amount);
    pool_.increase(amount);
  }
  void decrease(size_t amount) {
    all_.decrease(amount);
    pool_.decrease(amount);
  }
  void change(int64_t amount) {
    if (amount > 0) {
      increase(static_cast<size_t>(amount));
    } else if (amount < 0) {
      decrease(static_cast<size_t>(-amount));
    }
  }

 private:
  c10::CachingAllocator::Stat& all_;
  c10::CachingAllocator::Stat& pool_;
};

inline int64_t current(const c10::CachingAllocator::StatArray& stats) {
  return stats[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current;
}

void reset_accumulated(DeviceStats& stats);
void reset_peak(DeviceStats& stats);

}  // namespace anvil::allocator
