#include "backend/allocator/Statistics.h"

namespace anvil::allocator {
namespace {

template <class F>
void for_each_stat(DeviceStats& stats, F f) {
  for (auto* array : {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
                      &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
                      &stats.inactive_split_bytes, &stats.requested_bytes}) {
    for (auto& stat : *array) {
      f(stat);
    }
  }
  f(stats.oversize_allocations);
  f(stats.oversize_segments);
}

}  // namespace

void reset_accumulated(DeviceStats& stats) {
  for_each_stat(stats, [](auto& stat) { stat.reset_accumulated(); });
  stats.num_alloc_retries = 0;
  stats.num_ooms = 0;
  stats.num_sync_all_streams = 0;
  stats.num_device_alloc = 0;
  stats.num_device_free = 0;
}

void reset_peak(DeviceStats& stats) {
  for_each_stat(stats, [](auto& stat) { stat.reset_peak(); });
}

}  // namespace anvil::allocator
