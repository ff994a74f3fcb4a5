// Fills. Rules: CUDA Runtime API reference, cudaMemset and "API synchronization
// behavior", "Memset".
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaMemset = CudaTest;

std::vector<unsigned char> read(const unsigned char* device, size_t n) {
  std::vector<unsigned char> values(n);
  EXPECT_SUCCESS(cuda().cudaMemcpy(values.data(), device, n, cudaMemcpyDeviceToHost));
  return values;
}

// Fills each byte with the value, which is taken as one byte.
TEST_F(CudaMemset, SetsEachByte) {
  DeviceArray<unsigned char> array(100);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0x1ab, 100));
  EXPECT_EQ(read(array.get(), 100), std::vector<unsigned char>(100, 0xab));
}

TEST_F(CudaMemset, SetsAPart) {
  DeviceArray<unsigned char> array(4);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, 4));
  EXPECT_SUCCESS(cuda().cudaMemset(array.get() + 1, 7, 2));
  EXPECT_EQ(read(array.get(), 4), (std::vector<unsigned char>{0, 7, 7, 0}));
}

// cudaMemset does not wait for device memory, but for pinned memory it does.
TEST_F(CudaMemset, DoesNotBlockForDeviceMemory) {
  DeviceArray<unsigned char> array(100);
  TestStream blocking(cudaStreamDefault);
  Gate gate;
  gate.close(blocking);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 1, 100));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(blocking));
}

TEST_F(CudaMemset, SetsPinnedMemoryBeforeItReturns) {
  PinnedArray<unsigned char> array(100);
  array[99] = 0;
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 1, 100));
  EXPECT_EQ(array[99], 1);
}

TEST_F(CudaMemset, AsyncFollowsTheStream) {
  DeviceArray<unsigned char> array(10);
  PinnedArray<unsigned char> back(10);
  back[0] = 0;
  TestStream stream;
  Gate gate;
  gate.close(stream);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 1, 10, stream));
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 2, 10, stream));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(back.get(), array.get(), 10, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(back[0], 0);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(back[0], 2);
}

TEST_F(CudaMemset, PageableMemoryIsInvalid) {
  std::vector<unsigned char> host(10);
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaMemset(host.data(), 0, 10));
}

}  // namespace
}  // namespace anvil::runtime::testing
