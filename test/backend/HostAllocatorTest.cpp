#include "backend/HostAllocator.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "backend/Functions.h"
#include "backend/Hooks.h"
#include "backend/Lifecycle.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

TEST(HostAllocator, IsTorchsPinnedMemoryOfTheDevice) {
  EXPECT_EQ(at::getHostAllocator(kDeviceType), getHostAllocator());
  EXPECT_EQ(at::detail::getPrivateUse1Hooks().getPinnedMemoryAllocator(), getHostAllocator());
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
}

TEST(HostAllocator, AskingWhetherMemoryIsPinnedDoesNotInitialize) {
  int value = 0;
  EXPECT_FALSE(is_pinned(&value));
  EXPECT_FALSE(at::detail::getPrivateUse1Hooks().isPinnedPtr(&value));
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
}

TEST(HostAllocator, ItsMemoryIsPinnedAndUsableByTheHost) {
  const at::DataPtr data = getHostAllocator()->allocate(1000);
  EXPECT_TRUE(is_pinned(data.get()));
  EXPECT_TRUE(is_pinned(static_cast<char*>(data.get()) + 999));
  EXPECT_EQ(data.device(), c10::Device(c10::kCPU));
  std::memset(data.get(), 1, 1000);
  int value = 0;
  EXPECT_FALSE(is_pinned(&value));
  EXPECT_FALSE(is_pinned(nullptr));
}

TEST(HostAllocator, FreedMemoryIsReused) {
  at::DataPtr data = getHostAllocator()->allocate(1000);
  void* const pointer = data.get();
  data.clear();
  EXPECT_EQ(getHostAllocator()->allocate(1000).get(), pointer);
  EXPECT_EQ(getHostAllocator()->get_stats().num_host_alloc, 1);
}

TEST(HostAllocator, ARecordedStreamDelaysReuse) {
  const Stream stream = getStreamFromPool();
  at::DataPtr data = getHostAllocator()->allocate(1000);
  void* const pointer = data.get();
  EXPECT_TRUE(getHostAllocator()->record_event(pointer, data.get_context(), stream.unwrap()));
  test::Gate gate = test::Gate(stream);
  data.clear();
  at::DataPtr other = getHostAllocator()->allocate(1000);
  EXPECT_NE(other.get(), pointer);
  gate.open();
  stream.synchronize();
  EXPECT_EQ(getHostAllocator()->allocate(1000).get(), pointer);
}

TEST(HostAllocator, DoesNotRecordMemoryOfOthers) {
  int value = 0;
  EXPECT_FALSE(getHostAllocator()->record_event(&value, nullptr, getDefaultStream().unwrap()));
}

TEST(HostAllocator, EmptyingTheCacheGivesMemoryBack) {
  getHostAllocator()->allocate(1 << 20).clear();
  EXPECT_EQ(getHostAllocator()->get_stats().allocated_bytes.current, 1 << 20);
  getHostAllocator()->empty_cache();
  EXPECT_EQ(getHostAllocator()->get_stats().allocated_bytes.current, 0);
}

TEST(HostAllocator, NeedsNoDeviceOfItsOwn) {
  set_device(1);
  std::thread([] {  // whose current device is 0
    EXPECT_NE(getHostAllocator()->allocate(1000).get(), nullptr);
  })
      .join();
  EXPECT_FALSE(has_primary_context(0));
}

TEST(HostAllocator, CopiesFromItAreAsynchronous) {
  const Stream stream = getStreamFromPool();
  const at::DataPtr host = getHostAllocator()->allocate(64);
  std::memset(host.get(), 7, 64);
  void* device = nullptr;
  ASSERT_EQ(runtime::table().cudaMalloc(&device, 64), cudaSuccess);
  test::Gate gate = test::Gate(stream);
  ASSERT_EQ(runtime::table().cudaMemcpyAsync(device, host.get(), 64, cudaMemcpyHostToDevice,
                                             stream.stream()),
            cudaSuccess);
  EXPECT_FALSE(stream.query());
  gate.open();
  stream.synchronize();
  std::vector<char> back(64);
  ASSERT_EQ(runtime::table().cudaMemcpy(back.data(), device, 64, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back, std::vector<char>(64, 7));
  ASSERT_EQ(runtime::table().cudaFree(device), cudaSuccess);
}

TEST(HostAllocator, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const Stream stream = getStreamFromPool();
      for (int step = 0; step < 100; ++step) {
        const at::DataPtr data = getHostAllocator()->allocate(1 + step * 64);
        std::memset(data.get(), step, 1 + step * 64);
        getHostAllocator()->record_event(data.get(), data.get_context(), stream.unwrap());
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  device_synchronize();
  getHostAllocator()->empty_cache();
  EXPECT_EQ(getHostAllocator()->get_stats().active_bytes.current, 0);
}

}  // namespace
}  // namespace anvil
