// Blocks, streams and the cache.
#include "backend/CachingAllocator.h"

#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"
#include "test/backend/Memory.h"

namespace anvil {
namespace {

using test::all;
using test::allocate;
using test::kKiB;
using test::kMiB;
using test::stats;
using test::Stats;

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
  ASSERT_EQ(runtime::table().cudaMemcpy(host.data(), copy.get(), 1024, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(host, std::vector<unsigned char>(1024, 0x5a));
  EXPECT_TRUE(getDeviceAllocator()->is_simple_data_ptr(copy));
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
