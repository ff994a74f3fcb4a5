// What the allocator says about itself: statistics and snapshot.
#include <algorithm>

#include "backend/allocator/DeviceCachingAllocator.h"
#include "backend/allocator/Sizes.h"

namespace anvil::allocator {

DeviceStats DeviceCachingAllocator::stats() {
  const Lock lock(mutex_);
  DeviceStats copy = stats_;
  copy.max_split_size = static_cast<int64_t>(Config::max_split_size());
  return copy;
}

void DeviceCachingAllocator::reset_accumulated_stats() {
  const Lock lock(mutex_);
  reset_accumulated(stats_);
}

void DeviceCachingAllocator::reset_peak_stats() {
  const Lock lock(mutex_);
  reset_peak(stats_);
}

std::vector<c10::CachingDeviceAllocator::SegmentInfo> DeviceCachingAllocator::snapshot() {
  const Lock lock(mutex_);
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> segments;
  for (const Block* first : segments_) {
    auto& segment = segments.emplace_back();
    segment.device = device_;
    segment.address = reinterpret_cast<size_t>(first->pointer);
    segment.stream = first->stream;
    segment.is_large = !first->pool->is_small();
    for (const Block* block = first; block != nullptr; block = block->next) {
      auto& info = segment.blocks.emplace_back();
      info.size = block->size;
      info.requested_size = block->requested;
      info.allocated = block->allocated;
      info.active = !block->is_free();
      segment.total_size += block->size;
      segment.allocated_size += block->allocated ? block->size : 0;
      segment.active_size += info.active ? block->size : 0;
      segment.requested_size += block->requested;
    }
  }
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return segments;
}

}  // namespace anvil::allocator
