// Copies. Rules: CUDA Runtime API reference, "Memory Management" (values) and
// "API synchronization behavior" (what blocks the host).
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaMemcpy = CudaTest;

std::vector<int> counted(size_t n) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

std::vector<int> read(const int* device, size_t n) {
  std::vector<int> values(n, -1);
  EXPECT_SUCCESS(cuda().cudaMemcpy(values.data(), device, n * 4, cudaMemcpyDeviceToHost));
  return values;
}

TEST_F(CudaMemcpy, EveryDirectionCopies) {
  const std::vector<int> values = counted(1000);
  DeviceArray<int> first(1000), second(1000);
  std::vector<int> host(1000, 0), back(1000, 0);
  EXPECT_SUCCESS(cuda().cudaMemcpy(host.data(), values.data(), 4000, cudaMemcpyHostToHost));
  EXPECT_SUCCESS(cuda().cudaMemcpy(first.get(), host.data(), 4000, cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cuda().cudaMemcpy(second.get(), first.get(), 4000, cudaMemcpyDeviceToDevice));
  EXPECT_SUCCESS(cuda().cudaMemcpy(back.data(), second.get(), 4000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
}

// cudaMemcpyDefault: the direction follows from the pointers.
TEST_F(CudaMemcpy, DefaultInfersTheDirection) {
  const std::vector<int> values = counted(100);
  DeviceArray<int> array(100);
  std::vector<int> back(100, 0);
  EXPECT_SUCCESS(cuda().cudaMemcpy(array.get(), values.data(), 400, cudaMemcpyDefault));
  EXPECT_SUCCESS(cuda().cudaMemcpy(back.data(), array.get(), 400, cudaMemcpyDefault));
  EXPECT_EQ(back, values);
}

TEST_F(CudaMemcpy, UnknownDirectionIsAnError) {
  DeviceArray<int> array(1);
  int value = 0;
  EXPECT_CUDA(cudaErrorInvalidMemcpyDirection,
              cuda().cudaMemcpy(array.get(), &value, 4, static_cast<cudaMemcpyKind>(7)));
}

TEST_F(CudaMemcpy, NoBytesNeedNoPointers) {
  EXPECT_SUCCESS(cuda().cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
}

TEST_F(CudaMemcpy, PartsOfAllocationsCopy) {
  const std::vector<int> values = counted(10);
  DeviceArray<int> array(100);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, array.bytes()));
  EXPECT_SUCCESS(cuda().cudaMemcpy(array.get() + 50, values.data(), 40, cudaMemcpyHostToDevice));
  const std::vector<int> all = read(array.get(), 100);
  EXPECT_EQ(all[49], 0);
  EXPECT_EQ(all[50], 1);
  EXPECT_EQ(all[59], 10);
  EXPECT_EQ(all[60], 0);
}

TEST_F(CudaMemcpy, TwoDimensionsHonourBothPitches) {
  // Rows of 3 out of rows of 5, into rows of 4.
  const std::vector<int> values = counted(20);
  DeviceArray<int> array(16);
  TestStream stream;
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 0, array.bytes(), stream));
  EXPECT_SUCCESS(cuda().cudaMemcpy2DAsync(array.get(), 16, values.data(), 20, 12, 4,
                                          cudaMemcpyHostToDevice, stream));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(read(array.get(), 16),
            (std::vector<int>{1, 2, 3, 0, 6, 7, 8, 0, 11, 12, 13, 0, 16, 17, 18, 0}));
}

// cudaMemcpy2DAsync: an error if the width exceeds either pitch.
TEST_F(CudaMemcpy, TwoDimensionsNeedWidthWithinPitch) {
  DeviceArray<int> array(16);
  int values[16] = {};
  EXPECT_CUDA(
      cudaErrorInvalidPitchValue,
      cuda().cudaMemcpy2DAsync(array.get(), 8, values, 16, 12, 1, cudaMemcpyHostToDevice, nullptr));
}

// Async, pageable to device: returns once the source is staged, so the source may
// change then, whether the stream is held up or not.
TEST_F(CudaMemcpy, PageableSourceMayChangeAfterTheCall) {
  for (const size_t n : {16, 1000, 100000}) {
    std::vector<int> values = counted(n);
    const std::vector<int> expected = values;
    DeviceArray<int> array(n);
    TestStream stream;
    Gate gate;
    std::thread opener;
    gate.close(stream);
    // The call may also wait for the stream (that is allowed too).
    opener = std::thread([&] { gate.open(); });
    EXPECT_SUCCESS(
        cuda().cudaMemcpyAsync(array.get(), values.data(), n * 4, cudaMemcpyHostToDevice, stream));
    std::fill(values.begin(), values.end(), -1);
    opener.join();
    EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
    EXPECT_EQ(read(array.get(), n), expected) << n;
  }
}

// Async, device to pageable: returns only once the copy has completed.
TEST_F(CudaMemcpy, PageableDestinationHoldsTheDataAfterTheCall) {
  const std::vector<int> values = counted(1000);
  DeviceArray<int> array(1000);
  TestStream stream;
  std::vector<int> back(1000, 0);
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(array.get(), values.data(), 4000, cudaMemcpyHostToDevice, stream));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(back.data(), array.get(), 4000, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(back, values);
}

// Async, device and pinned: fully asynchronous, so the call returns although the
// stream is held up.
TEST_F(CudaMemcpy, PinnedCopiesDoNotBlock) {
  PinnedArray<int> from(1000), to(1000);
  std::iota(from.get(), from.get() + 1000, 1);
  to[999] = 0;
  DeviceArray<int> array(1000);
  TestStream stream;
  Gate gate;
  gate.close(stream);
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(array.get(), from.get(), 4000, cudaMemcpyHostToDevice, stream));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(to.get(), array.get(), 4000, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(to[999], 0);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(to[999], 1000);
}

// Synchronous, device to device: no synchronisation with the host.
TEST_F(CudaMemcpy, DeviceToDeviceDoesNotBlock) {
  DeviceArray<int> from(16), to(16);
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(blocking);
  EXPECT_SUCCESS(cuda().cudaMemcpy(to.get(), from.get(), 64, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(blocking));
}

// Synchronous, pinned to device: done when the call returns.
TEST_F(CudaMemcpy, SynchronousCopyFromPinnedMemoryIsDoneAfterTheCall) {
  PinnedArray<int> from(1);
  DeviceArray<int> array(1);
  from[0] = 3;
  EXPECT_SUCCESS(cuda().cudaMemcpy(array.get(), from.get(), 4, cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cuda().cudaStreamQuery(nullptr));
  from[0] = 4;
  EXPECT_EQ(read(array.get(), 1)[0], 3);
}

// cudaMemcpy goes to the legacy default stream, so it follows earlier work of
// blocking streams.
TEST_F(CudaMemcpy, SynchronousCopyFollowsBlockingStreams) {
  PinnedArray<int> from(1);
  from[0] = 9;
  DeviceArray<int> array(1);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, 4));
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(blocking);
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(array.get(), from.get(), 4, cudaMemcpyHostToDevice, blocking));
  std::thread opener([&] { gate.open(); });
  EXPECT_EQ(read(array.get(), 1)[0], 9);
  opener.join();
}

// Copies may name any device's memory, whatever device is current (unified
// virtual addressing).
TEST_F(TwoDeviceTest, CopyBetweenDevices) {
  const std::vector<int> values = counted(100);
  DeviceArray<int> first(100);
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  DeviceArray<int> second(100);
  TestStream stream;
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_SUCCESS(cuda().cudaMemcpy(first.get(), values.data(), 400, cudaMemcpyHostToDevice));
  // A copy from pageable memory may return when it is staged, and the stream
  // below is ordered with nothing.
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(cuda().cudaMemcpyPeerAsync(second.get(), 1, first.get(), 0, 400, stream));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(read(second.get(), 100), values);
  EXPECT_SUCCESS(cuda().cudaMemset(first.get(), 0, 400));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(first.get(), second.get(), 400, cudaMemcpyDeviceToDevice, stream));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(read(first.get(), 100), values);
}

// Programming Guide, "Peer-to-Peer Memory Copy": a copy in the NULL stream between
// two devices does not start until all commands previously issued to either device
// have completed, and runs to completion before later commands of either start.
TEST_F(TwoDeviceTest, PeerCopyInTheNullStreamIsOrderedOnBothDevices) {
  DeviceArray<int> first(1);
  EXPECT_SUCCESS(cuda().cudaMemset(first.get(), 1, 4));
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  DeviceArray<int> second(1);
  EXPECT_SUCCESS(cuda().cudaMemset(second.get(), 0, 4));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  Gate gate;
  gate.close(nullptr);  // of device 1
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(cuda().cudaMemcpyPeerAsync(second.get(), 1, first.get(), 0, 4, nullptr));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(second.get(), 2, 4, nullptr));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(read(second.get(), 1)[0], 0x02020202);
}

}  // namespace
}  // namespace anvil::runtime::testing
