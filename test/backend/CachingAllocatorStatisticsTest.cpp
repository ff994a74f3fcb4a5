// What the allocator reports: statistics, snapshot, profiler.
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backend/CachingAllocator.h"
#include "backend/Functions.h"
#include "test/backend/Memory.h"

namespace anvil {
namespace {

using test::all;
using test::allocate;
using test::kMiB;
using test::large;
using test::small;
using test::Stat;
using test::StatArray;
using test::stats;
using test::Stats;

TEST(CachingAllocator, ResettingStatisticsKeepsWhatIsInUse) {
  c10::DataPtr a = allocate(4096);
  const c10::DataPtr b = allocate(512);
  a.clear();
  getDeviceAllocator()->resetPeakStats(0);
  getDeviceAllocator()->resetAccumulatedStats(0);
  const Stats now = stats();
  EXPECT_EQ(all(now.allocated_bytes).peak, 512);
  EXPECT_EQ(all(now.allocated_bytes).current, 512);
  EXPECT_EQ(all(now.allocated_bytes).allocated, 0);
  EXPECT_EQ(now.num_device_alloc, 0);
}

struct MemoryReports : public c10::MemoryReportingInfoBase {
  void reportMemoryUsage(
      void*, int64_t bytes, size_t allocated, size_t reserved, c10::Device device) override {
    sum += bytes;
    EXPECT_EQ(sum, static_cast<int64_t>(allocated));
    EXPECT_EQ(reserved, 2 * kMiB);
    EXPECT_EQ(device, c10::Device(kDeviceType, 0));
    ++calls;
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t sum = 0;
  int calls = 0;
};

TEST(CachingAllocator, ReportsToTheProfiler) {
  const auto reports = std::make_shared<MemoryReports>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reports);
  c10::DataPtr a = allocate(100);
  c10::DataPtr b = allocate(1000);
  a.clear();
  b.clear();
  EXPECT_EQ(reports->sum, 0);
  EXPECT_EQ(reports->calls, 4);
}

// A plain model of what is live, against statistics and snapshot.
TEST(CachingAllocator, StatisticsAgreeWithAModelUnderARandomSequence) {
  std::mt19937_64 random(20261201);
  struct Live {
    c10::DataPtr data;
    size_t requested;
    size_t rounded;
  };
  std::vector<Live> live;
  int64_t count = 0;
  int64_t peak = 0;
  int64_t small_bytes = 0;
  int64_t large_bytes = 0;
  int64_t requested = 0;
  int64_t total_allocated = 0;
  for (int step = 0; step < 3000; ++step) {
    if (live.empty() || (live.size() < 60 && random() % 2 == 0)) {
      const size_t limit = size_t{1} << (6 + random() % 18);
      const size_t bytes = 1 + random() % limit;
      const size_t rounded = (bytes + 511) / 512 * 512;
      live.push_back({allocate(bytes), bytes, rounded});
      ++count;
      requested += static_cast<int64_t>(bytes);
    } else {
      const size_t victim = random() % live.size();
      requested -= static_cast<int64_t>(live[victim].requested);
      live[victim] = std::move(live.back());
      live.pop_back();
    }
    if (step % 1000 == 999) {
      getDeviceAllocator()->emptyCache();
    }

    // What the snapshot says must be what is live: each block once, none overlapping.
    std::map<size_t, size_t> blocks;  // address -> size
    int64_t reserved = 0;
    int64_t split = 0;
    int64_t split_bytes = 0;
    for (const auto& segment : memory_snapshot()) {
      reserved += static_cast<int64_t>(segment.total_size);
      size_t address = segment.address;
      bool before_was_free = false;
      for (const auto& block : segment.blocks) {
        if (block.allocated) {
          blocks.emplace(address, block.size);
        } else {
          ASSERT_FALSE(before_was_free) << "two free neighbours were not merged";
          split += segment.blocks.size() > 1 ? 1 : 0;
          split_bytes += segment.blocks.size() > 1 ? static_cast<int64_t>(block.size) : 0;
        }
        before_was_free = !block.allocated;
        address += block.size;
      }
    }
    ASSERT_EQ(blocks.size(), live.size());
    small_bytes = 0;
    large_bytes = 0;
    for (const Live& entry : live) {
      const auto found = blocks.find(reinterpret_cast<size_t>(entry.data.get()));
      ASSERT_NE(found, blocks.end());
      ASSERT_GE(found->second, entry.rounded);
      (entry.rounded <= kMiB ? small_bytes : large_bytes) += static_cast<int64_t>(found->second);
    }

    const Stats now = stats();
    peak = std::max(peak, small_bytes + large_bytes);
    ASSERT_EQ(all(now.allocation).current, static_cast<int64_t>(live.size()));
    ASSERT_EQ(all(now.allocation).allocated, count);
    ASSERT_EQ(all(now.allocation).freed, count - static_cast<int64_t>(live.size()));
    ASSERT_EQ(small(now.allocated_bytes).current, small_bytes);
    ASSERT_EQ(large(now.allocated_bytes).current, large_bytes);
    ASSERT_EQ(all(now.allocated_bytes).current, small_bytes + large_bytes);
    ASSERT_EQ(all(now.allocated_bytes).peak, peak);
    ASSERT_EQ(all(now.active_bytes).current, small_bytes + large_bytes);
    ASSERT_EQ(all(now.requested_bytes).current, requested);
    ASSERT_EQ(all(now.reserved_bytes).current, reserved);
    ASSERT_EQ(all(now.inactive_split).current, split);
    ASSERT_EQ(all(now.inactive_split_bytes).current, split_bytes);
    ASSERT_EQ(small(now.inactive_split_bytes).current + large(now.inactive_split_bytes).current,
              split_bytes);
    ASSERT_EQ(now.num_device_alloc - now.num_device_free, all(now.segment).current);
    total_allocated = all(now.allocated_bytes).allocated;
  }
  EXPECT_GT(total_allocated, peak);
  live.clear();
  getDeviceAllocator()->emptyCache();
  const Stats end = stats();
  for (const StatArray* array :
       {&end.allocation, &end.segment, &end.active, &end.inactive_split, &end.allocated_bytes,
        &end.reserved_bytes, &end.active_bytes, &end.inactive_split_bytes, &end.requested_bytes}) {
    for (const Stat& stat : *array) {
      EXPECT_EQ(stat.current, 0);
      EXPECT_EQ(stat.allocated, stat.freed);
    }
  }
}

}  // namespace
}  // namespace anvil
