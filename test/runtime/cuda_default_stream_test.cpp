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
  void SetUp() override {
    CudaTest::SetUp();
    scratch();  // its allocation may synchronise
    value_[0] = 7;
    result_[0] = 0;
  }
  // Enqueues two copies, after which written().
  void write(cudaStream_t stream) {
    EXPECT_SUCCESS(
        cuda().cudaMemcpyAsync(scratch(), value_.get(), 4, cudaMemcpyHostToDevice, stream));
    EXPECT_SUCCESS(
        cuda().cudaMemcpyAsync(result_.get(), scratch(), 4, cudaMemcpyDeviceToHost, stream));
  }
  bool written() const { return result_[0] == 7; }

 private:
  static int* scratch() {
    static DeviceArray<int>* array = new DeviceArray<int>(1);
    return array->get();
  }
  PinnedArray<int> value_{1};
  PinnedArray<int> result_{1};
};

TEST_F(CudaDefaultStream, WaitsForEarlierWorkOfBlockingStreams) {
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(blocking);
  write(nullptr);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
  EXPECT_FALSE(written());
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(written());
}

TEST_F(CudaDefaultStream, BlockingStreamsWaitForItsEarlierWork) {
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(nullptr);
  write(blocking);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(blocking));
  EXPECT_FALSE(written());
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(blocking));
  EXPECT_TRUE(written());
}

// cudaStreamNonBlocking: no implicit synchronisation with stream 0.
TEST_F(CudaDefaultStream, NonBlockingStreamsDoNotWaitForIt) {
  TestStream stream(cudaStreamNonBlocking);
  Gate gate;
  gate.close(nullptr);
  write(stream);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_TRUE(written());
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(nullptr));
}

TEST_F(CudaDefaultStream, DoesNotWaitForNonBlockingStreams) {
  TestStream stream(cudaStreamNonBlocking);
  Gate gate;
  gate.close(stream);
  write(nullptr);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(written());
}

// Blocking streams do not wait for each other.
TEST_F(CudaDefaultStream, BlockingStreamsDoNotWaitForEachOther) {
  TestStream held(cudaStreamDefault), other(cudaStreamDefault);
  Gate gate;
  gate.close(held);
  write(other);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(other));
  EXPECT_TRUE(written());
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
