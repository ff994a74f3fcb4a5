#include "backend/Stream.h"

#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

TEST(Stream, TheDefaultStreamIsTheLegacyStream) {
  const Stream stream = getDefaultStream(1);
  EXPECT_EQ(stream.id(), 0);
  EXPECT_EQ(stream.stream(), nullptr);
  EXPECT_EQ(stream.device_index(), 1);
  EXPECT_EQ(stream.priority(), 0);
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
}

TEST(Stream, ThePoolHasThirtyTwoStreamsAndThenStartsAgain) {
  std::set<cudaStream_t> handles;
  std::vector<Stream> streams;
  for (int i = 0; i < 32; ++i) {
    streams.push_back(getStreamFromPool());
    handles.insert(streams.back().stream());
  }
  EXPECT_EQ(handles.size(), 32u);
  EXPECT_EQ(handles.count(nullptr), 0u);
  EXPECT_EQ(getStreamFromPool(), streams.front());
}

TEST(Stream, PrioritiesAreTheDevicesAndAreClamped) {
  int least = -1;
  int greatest = 1;
  ASSERT_EQ(runtime::table().cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  for (int priority = least; priority >= greatest; --priority) {
    const Stream stream = getStreamFromPool(priority);
    int driver_says = 1;
    ASSERT_EQ(runtime::table().cudaStreamGetPriority(stream.stream(), &driver_says), cudaSuccess);
    EXPECT_EQ(stream.priority(), priority);
    EXPECT_EQ(driver_says, priority);
  }
  EXPECT_EQ(getStreamFromPool(greatest - 100).priority(), greatest);
  EXPECT_EQ(getStreamFromPool(least + 100).priority(), least);
  EXPECT_EQ(getStreamFromPool(true).priority(), greatest);
  EXPECT_EQ(getStreamFromPool(false).priority(), least);
}

TEST(Stream, EachDeviceHasItsOwnPool) {
  const Stream stream = getStreamFromPool(0, 1);
  int device = -1;
  ASSERT_EQ(runtime::table().cudaStreamGetDevice(stream.stream(), &device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(current_device(), 0);
}

TEST(Stream, SurvivesPacking) {
  const Stream stream = getStreamFromPool(-1, 1);
  const auto packed = stream.unwrap().pack3();
  const Stream back(
      c10::Stream::unpack3(packed.stream_id, packed.device_index, packed.device_type));
  EXPECT_EQ(back, stream);
  EXPECT_EQ(back.stream(), stream.stream());
}

TEST(Stream, AnExternalStreamKeepsItsHandleAndPriority) {
  cudaStream_t handle = nullptr;
  ASSERT_EQ(runtime::table().cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking, -1),
            cudaSuccess);
  {
    const Stream stream = getStreamFromExternal(handle, 0);
    EXPECT_EQ(stream.stream(), handle);
    EXPECT_EQ(stream.priority(), -1);
    EXPECT_EQ(GuardImpl().getStreamNativeHandle(stream), handle);
  }
  EXPECT_EQ(runtime::table().cudaStreamDestroy(handle), cudaSuccess);  // it is not ours
}

TEST(Stream, TheLegacyHandleIsTheDefaultStream) {
  EXPECT_EQ(getStreamFromExternal(cudaStreamLegacy, 0), getDefaultStream(0));
  EXPECT_EQ(getStreamFromExternal(nullptr, 0), getDefaultStream(0));
}

TEST(Stream, RefusesStreamsOfOtherDeviceTypes) {
  EXPECT_THROW(Stream(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))), c10::Error);
}

TEST(Stream, TheCurrentStreamBelongsToThreadAndDevice) {
  const Stream stream = getStreamFromPool(0, 1);
  setCurrentStream(stream);
  EXPECT_EQ(getCurrentStream(1), stream);
  EXPECT_EQ(getCurrentStream(0), getDefaultStream(0));
  EXPECT_EQ(getCurrentStream(), getDefaultStream(0));
  std::thread([] { EXPECT_EQ(getCurrentStream(1), getDefaultStream(1)); }).join();
  EXPECT_EQ(current_device(), 0) << "a stream does not change the device";
}

TEST(Stream, AGuardPutsStreamAndDeviceBack) {
  const Stream stream = getStreamFromPool(0, 1);
  {
    const c10::StreamGuard guard(stream.unwrap());
    EXPECT_EQ(current_device(), 1);
    EXPECT_EQ(getCurrentStream(), stream);
  }
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(getCurrentStream(1), getDefaultStream(1));
}

TEST(Stream, QueryAndSynchronizeFollowItsWork) {
  const Stream stream = getStreamFromPool();
  EXPECT_TRUE(stream.query());
  test::Gate gate = test::Gate(stream);
  EXPECT_FALSE(stream.query());
  EXPECT_EQ(runtime::table().cudaPeekAtLastError(), cudaSuccess) << "not ready is no error";
  gate.open();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST(Stream, NoneIsCapturing) {
  EXPECT_FALSE(getDefaultStream().is_capturing());
  EXPECT_FALSE(getStreamFromPool().is_capturing());
}

TEST(Stream, ManyThreadsShareThePool) {
  std::vector<std::thread> threads;
  std::array<cudaStream_t, 8> handles{};
  for (size_t i = 0; i < handles.size(); ++i) {
    threads.emplace_back([&handles, i] { handles[i] = getStreamFromPool(0, i % 2).stream(); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::set<cudaStream_t>(handles.begin(), handles.end()).size(), handles.size());
}

}  // namespace
}  // namespace anvil
