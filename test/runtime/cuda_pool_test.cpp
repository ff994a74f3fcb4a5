// Stream-ordered and managed memory. Rules: CUDA C++ Programming Guide, "Stream-Ordered
// Memory Allocator"; CUDA Runtime API reference, cudaMallocAsync, cudaFreeAsync,
// "Memory Pools", cudaMallocManaged.
#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

class CudaPool : public CudaTest {
 protected:
  uint64_t attribute(cudaMemPoolAttr which) {
    cudaMemPool_t pool = nullptr;
    uint64_t value = 0;
    EXPECT_SUCCESS(RUNTIME(cudaDeviceGetDefaultMemPool)(&pool, 0));
    EXPECT_SUCCESS(RUNTIME(cudaMemPoolGetAttribute)(pool, which, &value));
    return value;
  }
  void* allocate(size_t bytes) {
    void* pointer = nullptr;
    EXPECT_SUCCESS(RUNTIME(cudaMallocAsync)(&pointer, bytes, stream_));
    return pointer;
  }

  OnFirstDevice first_device_;
  TestStream stream_;
};

TEST_F(CudaPool, MemoryIsUsedInStreamOrder) {
  void* pointer = allocate(1024);
  int value = 0;
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(pointer, 4, 1024, stream_));
  EXPECT_SUCCESS(cuda().cudaMemcpyAsync(&value, pointer, 4, cudaMemcpyDeviceToHost, stream_));
  EXPECT_SUCCESS(RUNTIME(cudaFreeAsync)(pointer, stream_));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
  EXPECT_EQ(value, 0x04040404);
}

// cudaFreeAsync: work that was enqueued before it may use the memory.
TEST_F(CudaPool, AFreeWaitsForTheStream) {
  const uint64_t before = attribute(cudaMemPoolAttrUsedMemCurrent);
  void* pointer = allocate(1 << 20);
  Gate gate;
  gate.close(stream_);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(pointer, 4, 1 << 20, stream_));
  EXPECT_SUCCESS(RUNTIME(cudaFreeAsync)(pointer, stream_));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
  EXPECT_EQ(attribute(cudaMemPoolAttrUsedMemCurrent), before);
}

TEST_F(CudaPool, OnlyPoolMemoryIsFreedSo) {
  DeviceArray<int> array(4);
  EXPECT_CUDA(cudaErrorInvalidValue, RUNTIME(cudaFreeAsync)(array.get(), stream_));
  EXPECT_SUCCESS(RUNTIME(cudaFreeAsync)(nullptr, stream_));
}

// "Interoperability with cudaMalloc": cudaFree takes it too.
TEST_F(CudaPool, CudaFreeTakesIt) {
  void* pointer = allocate(1024);
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
  EXPECT_SUCCESS(cuda().cudaFree(pointer));
}

// cudaMemPoolSetAttribute: the high mark can only be set to zero.
TEST_F(CudaPool, TheHighMarkIsKept) {
  cudaMemPool_t pool = nullptr;
  EXPECT_SUCCESS(RUNTIME(cudaDeviceGetDefaultMemPool)(&pool, 0));
  void* pointer = allocate(1 << 20);
  EXPECT_SUCCESS(RUNTIME(cudaFreeAsync)(pointer, stream_));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
  EXPECT_GE(attribute(cudaMemPoolAttrUsedMemHigh), uint64_t{1} << 20);
  uint64_t value = 5;
  EXPECT_CUDA(cudaErrorInvalidValue,
              RUNTIME(cudaMemPoolSetAttribute)(pool, cudaMemPoolAttrUsedMemHigh, &value));
  value = 0;
  EXPECT_SUCCESS(RUNTIME(cudaMemPoolSetAttribute)(pool, cudaMemPoolAttrUsedMemHigh, &value));
  EXPECT_EQ(attribute(cudaMemPoolAttrUsedMemHigh), attribute(cudaMemPoolAttrUsedMemCurrent));
}

// cudaMallocManaged: one pointer for host and device.
TEST_F(CudaPool, ManagedMemoryIsBothHostsAndDevices) {
  void* pointer = nullptr;
  ASSERT_SUCCESS(RUNTIME(cudaMallocManaged)(&pointer, 1024, cudaMemAttachGlobal));
  cudaPointerAttributes attributes{};
  EXPECT_SUCCESS(cuda().cudaPointerGetAttributes(&attributes, pointer));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_SUCCESS(cuda().cudaMemset(pointer, 2, 1024));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(*static_cast<int*>(pointer), 0x02020202);
  EXPECT_SUCCESS(cuda().cudaFree(pointer));
}

}  // namespace
}  // namespace anvil::runtime::testing
