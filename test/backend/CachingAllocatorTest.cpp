#include "backend/CachingAllocator.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

using ::testing::HasSubstr;
using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using Stats = c10::CachingDeviceAllocator::DeviceStats;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

c10::DataPtr allocate(size_t bytes) { return getDeviceAllocator()->allocate(bytes); }
Stats stats(c10::DeviceIndex device = 0) { return getDeviceAllocator()->getDeviceStats(device); }
const Stat& all(const StatArray& array) { return array[static_cast<size_t>(StatType::AGGREGATE)]; }
const Stat& small(const StatArray& array) {
  return array[static_cast<size_t>(StatType::SMALL_POOL)];
}
const Stat& large(const StatArray& array) {
  return array[static_cast<size_t>(StatType::LARGE_POOL)];
}

TEST(CachingAllocator, IsTorchsAllocatorOfTheDevice) {
  EXPECT_EQ(c10::GetAllocator(kDeviceType), getDeviceAllocator());
  EXPECT_EQ(c10::getDeviceAllocator(kDeviceType), getDeviceAllocator());
  EXPECT_FALSE(getDeviceAllocator()->initialized());
}

TEST(CachingAllocator, NothingNeedsNoMemory) {
  const c10::DataPtr data = allocate(0);
  EXPECT_EQ(data.get(), nullptr);
  EXPECT_EQ(data.device(), c10::Device(kDeviceType, 0));
  EXPECT_EQ(all(stats().reserved_bytes).current, 0);
}

// Sizes as PyTorch documents them for CUDA's allocator.
TEST(CachingAllocator, RoundsRequestsAndSegments) {
  struct Case {
    size_t request, block, segment;
  };
  for (const Case& expected : {Case{1, 512, 2 * kMiB},
                               Case{513, 1024, 2 * kMiB},
                               Case{kMiB, kMiB, 2 * kMiB},
                               Case{kMiB + 1, kMiB + 512, 20 * kMiB},
                               Case{10 * kMiB - 512, 10 * kMiB - 512, 20 * kMiB},
                               Case{10 * kMiB, 10 * kMiB, 10 * kMiB},
                               Case{20 * kMiB + 1, 20 * kMiB + 512, 22 * kMiB}}) {
    c10::DataPtr data = allocate(expected.request);
    const Stats now = stats();
    EXPECT_EQ(all(now.requested_bytes).current, expected.request);
    EXPECT_EQ(all(now.allocated_bytes).current, expected.block) << expected.request;
    EXPECT_EQ(all(now.reserved_bytes).current, expected.segment) << expected.request;
    data.clear();
    getDeviceAllocator()->emptyCache();
  }
}

TEST(CachingAllocator, SplitsASegmentAndMergesItAgain) {
  c10::DataPtr a = allocate(1024);
  c10::DataPtr b = allocate(2048);
  c10::DataPtr c = allocate(512);
  char* base = static_cast<char*>(a.get());
  EXPECT_EQ(b.get(), base + 1024);
  EXPECT_EQ(c.get(), base + 1024 + 2048);
  EXPECT_EQ(all(stats().inactive_split).current, 1);
  EXPECT_EQ(all(stats().inactive_split_bytes).current, 2 * kMiB - 3584);

  b.clear();  // between two that are in use
  EXPECT_EQ(all(stats().inactive_split).current, 2);
  a.clear();  // merges with b above it
  EXPECT_EQ(all(stats().inactive_split).current, 2);
  auto segments = memory_snapshot();
  ASSERT_EQ(segments.size(), 1u);
  ASSERT_EQ(segments[0].blocks.size(), 3u);
  EXPECT_EQ(segments[0].blocks[0].size, 1024u + 2048u);

  c.clear();  // merges with both
  segments = memory_snapshot();
  ASSERT_EQ(segments[0].blocks.size(), 1u);
  EXPECT_EQ(segments[0].blocks[0].size, 2 * kMiB);
  EXPECT_EQ(all(stats().inactive_split).current, 0);
  EXPECT_EQ(all(stats().inactive_split_bytes).current, 0);
  EXPECT_EQ(all(stats().reserved_bytes).current, 2 * kMiB) << "kept in the cache";
}

TEST(CachingAllocator, TakesTheBlockThatFitsBest) {
  c10::DataPtr large_hole = allocate(4096);
  const c10::DataPtr fence = allocate(512);
  c10::DataPtr small_hole = allocate(1024);
  const c10::DataPtr other_fence = allocate(512);
  void* const expected = small_hole.get();
  large_hole.clear();
  small_hole.clear();
  EXPECT_EQ(allocate(1000).get(), expected);
}

TEST(CachingAllocator, ReusesMemoryOnItsStreamAtOnce) {
  c10::DataPtr data = allocate(512);
  void* const pointer = data.get();
  const test::Gate gate = test::Gate(getCurrentStream());
  data.clear();
  EXPECT_EQ(allocate(512).get(), pointer);
}

TEST(CachingAllocator, StreamsDoNotShareMemory) {
  c10::DataPtr data = allocate(512);
  void* const pointer = data.get();
  data.clear();
  const c10::StreamGuard guard(getStreamFromPool().unwrap());
  EXPECT_NE(allocate(512).get(), pointer);
  EXPECT_EQ(memory_snapshot().size(), 2u);
}

TEST(CachingAllocator, DevicesDoNotShareMemory) {
  const c10::DataPtr here = allocate(512);
  const DeviceGuard guard(c10::Device(kDeviceType, 1));
  const c10::DataPtr there = allocate(512);
  EXPECT_EQ(there.device(), c10::Device(kDeviceType, 1));
  cudaPointerAttributes attributes{};
  ASSERT_EQ(runtime::table().cudaPointerGetAttributes(&attributes, there.get()), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(all(stats(1).allocation).current, 1);
  EXPECT_EQ(all(stats(0).allocation).current, 1);
}

TEST(CachingAllocator, ARecordedStreamDelaysReuse) {
  const Stream side = getStreamFromPool();
  c10::DataPtr data = allocate(512);
  void* const pointer = data.get();
  getDeviceAllocator()->recordStream(data, side);
  test::Gate gate = test::Gate(side);
  data.clear();

  Stats now = stats();
  EXPECT_EQ(all(now.allocated_bytes).current, 0) << "the tensor is gone";
  EXPECT_EQ(all(now.active_bytes).current, 512) << "but its memory is in use";
  c10::DataPtr other = allocate(512);
  EXPECT_NE(other.get(), pointer);

  gate.open();
  side.synchronize();
  other.clear();
  const c10::DataPtr again = allocate(512);  // notices that the stream has passed
  EXPECT_EQ(again.get(), pointer);
  EXPECT_EQ(all(stats().active_bytes).current, 512);
}

TEST(CachingAllocator, EveryRecordedStreamMustPass) {
  const Stream first = getStreamFromPool();
  const Stream second = getStreamFromPool(0, 1);  // of the other device
  c10::DataPtr data = allocate(512);
  getDeviceAllocator()->recordStream(data, first);
  getDeviceAllocator()->recordStream(data, second);
  getDeviceAllocator()->recordStream(data, second);
  test::Gate first_gate = test::Gate(first);
  test::Gate second_gate = test::Gate(second);
  data.clear();
  first_gate.open();
  first.synchronize();
  const c10::DataPtr other = allocate(512);
  EXPECT_EQ(all(stats().active_bytes).current, 1024);
  second_gate.open();
  second.synchronize();
  const c10::DataPtr another = allocate(512);
  EXPECT_EQ(all(stats().active_bytes).current, 1024);
}

TEST(CachingAllocator, RecordingItsOwnStreamChangesNothing) {
  c10::DataPtr data = allocate(512);
  void* const pointer = data.get();
  getDeviceAllocator()->recordStream(data, getCurrentStream());
  const test::Gate gate = test::Gate(getCurrentStream());
  data.clear();
  EXPECT_EQ(allocate(512).get(), pointer);
}

TEST(CachingAllocator, RecordingMemoryOfOthersDoesNothing) {
  int value = 0;
  const c10::DataPtr foreign(&value, c10::Device(kDeviceType, 0));
  getDeviceAllocator()->recordStream(foreign, getStreamFromPool());
  getDeviceAllocator()->recordStream(c10::DataPtr(), getStreamFromPool());
}

TEST(CachingAllocator, EmptyingTheCacheGivesFreeSegmentsBack) {
  c10::DataPtr kept = allocate(512);
  allocate(30 * kMiB).clear();
  EXPECT_EQ(all(stats().segment).current, 2);
  const auto before = getDeviceAllocator()->getMemoryInfo(0);
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(all(stats().segment).current, 1);
  EXPECT_EQ(all(stats().reserved_bytes).current, 2 * kMiB);
  EXPECT_EQ(getDeviceAllocator()->getMemoryInfo(0).first, before.first + 30 * kMiB);
  kept.clear();
  getDeviceAllocator()->emptyCache();
  const Stats now = stats();
  EXPECT_EQ(all(now.reserved_bytes).current, 0);
  EXPECT_EQ(now.num_device_alloc, 2);
  EXPECT_EQ(now.num_device_free, 2);
}

TEST(CachingAllocator, EmptyingTheCacheWaitsForRecordedStreams) {
  const Stream side = getStreamFromPool();
  c10::DataPtr data = allocate(512);
  getDeviceAllocator()->recordStream(data, side);
  test::Gate gate = test::Gate(side);
  data.clear();
  std::thread opener([&] { gate.open(); });
  getDeviceAllocator()->emptyCache();
  opener.join();
  EXPECT_EQ(all(stats().active_bytes).current, 0);
  EXPECT_EQ(all(stats().reserved_bytes).current, 0);
  EXPECT_EQ(stats().num_sync_all_streams, 1);
}

TEST(CachingAllocator, RunningOutSaysWhatWasAskedAndTheProcessGoesOn) {
  const auto [free, total] = getDeviceAllocator()->getMemoryInfo(0);
  const c10::DataPtr kept = allocate(3 * kMiB);
  std::string message;
  try {
    allocate(total + kMiB);
  } catch (const c10::OutOfMemoryError& error) {
    message = error.what_without_backtrace();
  }
  EXPECT_THAT(message, HasSubstr("Tried to allocate"));
  EXPECT_THAT(message, HasSubstr("on anvil:0"));
  EXPECT_THAT(message, HasSubstr("is free"));
  EXPECT_THAT(message, HasSubstr("Tensors hold 3.00 MiB"));
  EXPECT_THAT(message, HasSubstr("reserves 20.00 MiB, of which 17.00 MiB is unused"));
  EXPECT_THAT(message, HasSubstr("PYTORCH_ALLOC_CONF"));
  const Stats now = stats();
  EXPECT_EQ(now.num_ooms, 1);
  EXPECT_EQ(now.num_alloc_retries, 1);
  EXPECT_EQ(all(now.reserved_bytes).current, 20 * kMiB);
  EXPECT_EQ(all(now.allocated_bytes).current, 3 * kMiB);
  EXPECT_NE(allocate(40 * kMiB).get(), nullptr);
}

TEST(CachingAllocator, GivesCachedMemoryBackBeforeItRunsOut) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  const size_t most = total / 4 * 3 / (2 * kMiB) * (2 * kMiB);
  allocate(most).clear();
  {
    const c10::StreamGuard guard(getStreamFromPool().unwrap());  // may not use that block
    EXPECT_NE(allocate(most).get(), nullptr);
  }
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 0);
}

TEST(CachingAllocator, KeepsToTheMemoryFraction) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  set_memory_fraction(0.25, 0);
  EXPECT_DOUBLE_EQ(get_memory_fraction(0), 0.25);
  EXPECT_THROW(allocate(total / 3), c10::OutOfMemoryError);
  EXPECT_NE(allocate(total / 5).get(), nullptr);
  EXPECT_THROW(set_memory_fraction(1.5, 0), c10::Error);
  EXPECT_THROW(set_memory_fraction(0.5, 2), c10::Error);
}

TEST(CachingAllocator, AnAbsurdSizeIsOutOfMemory) {
  EXPECT_THROW(allocate(~size_t{0}), c10::OutOfMemoryError);
}

TEST(CachingAllocator, LargeBlocksAreNotSplitAboveTheLimit) {
  c10::CachingAllocator::setAllocatorSettings("max_split_size_mb:32");
  c10::DataPtr big = allocate(64 * kMiB);
  EXPECT_EQ(stats().oversize_allocations.current, 1);
  EXPECT_EQ(stats().oversize_segments.current, 1);
  void* const pointer = big.get();
  big.clear();
  EXPECT_NE(allocate(2 * kMiB).get(), pointer) << "a small request does not take it";
  EXPECT_EQ(allocate(60 * kMiB).get(), pointer) << "one of about its size does";
  EXPECT_EQ(stats().max_split_size, static_cast<int64_t>(32 * kMiB));
}

TEST(CachingAllocator, GarbageCollectionFreesTheOldestSegments) {
  const size_t total = getDeviceAllocator()->getMemoryInfo(0).second;
  set_memory_fraction(80.0 * kMiB / static_cast<double>(total) + 1e-9, 0);
  c10::CachingAllocator::setAllocatorSettings("garbage_collection_threshold:0.6");
  c10::DataPtr oldest = allocate(20 * kMiB);
  c10::DataPtr newest = allocate(22 * kMiB);
  oldest.clear();
  newest.clear();
  allocate(24 * kMiB).clear();  // 66 MiB would be above 48: the oldest goes
  EXPECT_EQ(all(stats().reserved_bytes).current, 46 * kMiB);
  EXPECT_EQ(stats().num_alloc_retries, 0);
}

TEST(CachingAllocator, RoundsToDivisionsOfPowersOfTwoWhereAsked) {
  c10::CachingAllocator::setAllocatorSettings("roundup_power2_divisions:4");
  const c10::DataPtr data = allocate(1200 * kKiB);  // 1 MiB in four steps of 256 KiB
  EXPECT_EQ(all(stats().allocated_bytes).current, 1280 * kKiB);
}

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

TEST(CachingAllocator, RawMemoryIsOwnedUntilItIsFreed) {
  void* pointer = raw_allocate(100);
  EXPECT_EQ(all(stats().allocated_bytes).current, 512);
  raw_free(pointer);
  EXPECT_EQ(all(stats().allocated_bytes).current, 0);
  EXPECT_THROW(raw_free(pointer), c10::Error);
  raw_free(nullptr);
}

TEST(CachingAllocator, ClonesInStreamOrder) {
  const Stream stream = getCurrentStream();
  const c10::DataPtr source = allocate(1024);
  ASSERT_EQ(runtime::table().cudaMemsetAsync(source.get(), 0x5a, 1024, stream.stream()),
            cudaSuccess);
  const c10::DataPtr copy = getDeviceAllocator()->clone(source.get(), 1024);
  std::vector<unsigned char> host(1024);
  ASSERT_EQ(
      runtime::table().cudaMemcpy(host.data(), copy.get(), 1024, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(host, std::vector<unsigned char>(1024, 0x5a));
  EXPECT_TRUE(getDeviceAllocator()->is_simple_data_ptr(copy));
}

struct MemoryReports : public c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void*, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
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
  for (const StatArray* array : {&end.allocation, &end.segment, &end.active, &end.inactive_split,
                                 &end.allocated_bytes, &end.reserved_bytes, &end.active_bytes,
                                 &end.inactive_split_bytes, &end.requested_bytes}) {
    for (const Stat& stat : *array) {
      EXPECT_EQ(stat.current, 0);
      EXPECT_EQ(stat.allocated, stat.freed);
    }
  }
}

TEST(CachingAllocator, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      std::mt19937_64 random(i);
      const Stream stream = getStreamFromPool();
      const c10::StreamGuard guard(stream.unwrap());
      std::vector<c10::DataPtr> live;
      for (int step = 0; step < 500; ++step) {
        if (live.empty() || random() % 2 == 0) {
          live.push_back(allocate(1 + random() % (64 * kKiB)));
          if (random() % 8 == 0) {
            getDeviceAllocator()->recordStream(live.back(), getDefaultStream());
          }
        } else {
          live.erase(live.begin() + static_cast<int64_t>(random() % live.size()));
        }
        if (step == 250) {
          getDeviceAllocator()->emptyCache();
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  getDeviceAllocator()->emptyCache();
  EXPECT_EQ(all(stats().allocation).current, 0);
  EXPECT_EQ(all(stats().active_bytes).current, 0);
  EXPECT_EQ(all(stats().reserved_bytes).current, 0);
}

}  // namespace
}  // namespace anvil
