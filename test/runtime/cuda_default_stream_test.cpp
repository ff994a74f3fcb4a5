// The legacy default stream. Rules: CUDA Runtime API reference, "Stream
// synchronization behavior": work in it starts after all earlier work of the
// device's blocking streams, and their later work starts after it; streams made
// with cudaStreamNonBlocking take no part.
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class CudaDefaultStream : public CudaTest {
 protected:
  // Enqueues copying `value` to `to`, both pinned.
  static void write(int* to, const int* value, cudaStream_t stream) {
    EXPECT_SUCCESS(cuda().cudaMemcpyAsync(scratch(), value, 4, cudaMemcpyHostToDevice, stream));
    EXPECT_SUCCESS(cuda().cudaMemcpyAsync(to, scratch(), 4, cudaMemcpyDeviceToHost, stream));
  }
  static int* scratch() {
    static DeviceArray<int>* array = new DeviceArray<int>(1);
    return array->get();
  }
};

TEST_F(CudaDefaultStream, WaitsForEarlierWorkOfBlockingStreams) {
  scratch();
  PinnedArray<int> value(1), result(1);
  value[0] = 7;
  result[0] = 0;
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(blocking);
  write(result.get(), value.get(), nullptr);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
  EXPECT_EQ(result[0], 0);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  EXPECT_EQ(result[0], 7);
}

TEST_F(CudaDefaultStream, BlockingStreamsWaitForItsEarlierWork) {
  scratch();
  PinnedArray<int> value(1), result(1);
  value[0] = 7;
  result[0] = 0;
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(nullptr);
  write(result.get(), value.get(), blocking);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(blocking));
  EXPECT_EQ(result[0], 0);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(blocking));
  EXPECT_EQ(result[0], 7);
}

// cudaStreamNonBlocking: no implicit synchronisation with stream 0.
TEST_F(CudaDefaultStream, NonBlockingStreamsDoNotWaitForIt) {
  scratch();
  PinnedArray<int> value(1), result(1);
  value[0] = 7;
  result[0] = 0;
  TestStream stream(cudaStreamNonBlocking);
  Gate gate;
  gate.close(nullptr);
  write(result.get(), value.get(), stream);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(result[0], 7);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
}

TEST_F(CudaDefaultStream, DoesNotWaitForNonBlockingStreams) {
  scratch();
  PinnedArray<int> value(1), result(1);
  value[0] = 7;
  result[0] = 0;
  TestStream stream(cudaStreamNonBlocking);
  Gate gate;
  gate.close(stream);
  write(result.get(), value.get(), nullptr);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  EXPECT_EQ(result[0], 7);
}

// Blocking streams do not wait for each other.
TEST_F(CudaDefaultStream, BlockingStreamsDoNotWaitForEachOther) {
  scratch();
  PinnedArray<int> value(1), result(1);
  value[0] = 7;
  result[0] = 0;
  TestStream held(cudaStreamDefault), other(cudaStreamDefault);
  Gate gate;
  gate.close(held);
  write(result.get(), value.get(), other);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(other));
  EXPECT_EQ(result[0], 7);
}

TEST_F(CudaDefaultStream, IsTheHandleNullAndTheHandleLegacy) {
  Gate gate;
  gate.close(cudaStreamLegacy);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
}

// Devices have a default stream each.
TEST_F(TwoDeviceTest, DefaultStreamsOfTwoDevicesAreIndependent) {
  Gate gate;
  gate.close(nullptr);
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
}

}  // namespace
}  // namespace anvil::runtime::testing
