// Sizes, settings, and what happens when memory runs out.
#include <c10/core/AllocatorConfig.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backend/CachingAllocator.h"
#include "backend/Stream.h"
#include "test/backend/Memory.h"

namespace anvil {
namespace {

using test::all;
using test::allocate;
using test::kKiB;
using test::kMiB;
using test::stats;
using test::Stats;
using ::testing::HasSubstr;

// Sizes as PyTorch documents them for CUDA's allocator.
TEST(CachingAllocator, RoundsRequestsAndSegments) {
  struct Case {
    size_t request, block, segment;
  };
  for (const Case& expected :
       {Case{1, 512, 2 * kMiB}, Case{513, 1024, 2 * kMiB}, Case{kMiB, kMiB, 2 * kMiB},
        Case{kMiB + 1, kMiB + 512, 20 * kMiB}, Case{10 * kMiB - 512, 10 * kMiB - 512, 20 * kMiB},
        Case{10 * kMiB, 10 * kMiB, 10 * kMiB}, Case{20 * kMiB + 1, 20 * kMiB + 512, 22 * kMiB}}) {
    c10::DataPtr data = allocate(expected.request);
    const Stats now = stats();
    EXPECT_EQ(all(now.requested_bytes).current, expected.request);
    EXPECT_EQ(all(now.allocated_bytes).current, expected.block) << expected.request;
    EXPECT_EQ(all(now.reserved_bytes).current, expected.segment) << expected.request;
    data.clear();
    getDeviceAllocator()->emptyCache();
  }
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

}  // namespace
}  // namespace anvil
