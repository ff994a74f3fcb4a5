// What a pointer is. Rules: CUDA Runtime API reference, "Unified Addressing",
// cudaPointerGetAttributes.
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaPointer = CudaTest;

cudaPointerAttributes attributes_of(const void* pointer) {
  cudaPointerAttributes attributes;
  EXPECT_SUCCESS(cuda().cudaPointerGetAttributes(&attributes, pointer));
  return attributes;
}

TEST_F(CudaPointer, DeviceMemoryNamesItsDevice) {
  DeviceArray<int> array(100);
  const cudaPointerAttributes attributes = attributes_of(array.get());
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, array.get());
  EXPECT_EQ(attributes.hostPointer, nullptr);
}

TEST_F(CudaPointer, AddressesInsideAnAllocationCount) {
  DeviceArray<int> array(100);
  const cudaPointerAttributes attributes = attributes_of(array.get() + 50);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, array.get() + 50);
}

TEST_F(CudaPointer, PinnedMemoryIsHostMemoryThatTheDeviceCanUse) {
  PinnedArray<int> array(100);
  const cudaPointerAttributes attributes = attributes_of(array.get());
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, array.get());
  EXPECT_EQ(attributes.devicePointer, array.get());
}

// cudaMemoryTypeUnregistered for host memory that CUDA does not know, with
// success since CUDA 11.
TEST_F(CudaPointer, OtherHostMemoryIsUnregistered) {
  int on_stack = 0;
  const cudaPointerAttributes attributes = attributes_of(&on_stack);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.devicePointer, nullptr);
}

TEST_F(CudaPointer, FreedMemoryIsUnregistered) {
  void* pointer = nullptr;
  ASSERT_SUCCESS(cuda().cudaMalloc(&pointer, 1 << 22));
  EXPECT_SUCCESS(cuda().cudaFree(pointer));
  EXPECT_EQ(attributes_of(pointer).type, cudaMemoryTypeUnregistered);
}

TEST_F(TwoDeviceTest, MemoryOfAnotherDeviceNamesThatDevice) {
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  DeviceArray<int> array(1);
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_EQ(attributes_of(array.get()).device, 1);
}

TEST_F(CudaPointer, NullAttributesAreInvalid) {
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaPointerGetAttributes(nullptr, this));
}

}  // namespace
}  // namespace anvil::runtime::testing
