// Addresses and memory joined by hand. Rules: CUDA Driver API reference, "Virtual
// Memory Management"; CUDA C++ Programming Guide, "Virtual Memory Management".
#include <vector>

#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

class CudaVirtualMemory : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    ASSERT_SUCCESS(cuda().cudaMemset(nullptr, 0, 0));  // makes the context
    properties_ = {};
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    ASSERT_SUCCESS(DRIVER(cuMemGetAllocationGranularity)(&step_, &properties_,
                                                         CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ASSERT_GT(step_, 0u);
  }

  CUdeviceptr reserve(size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(DRIVER(cuMemAddressReserve)(&pointer, bytes, 0, 0, 0));
    return pointer;
  }
  CUmemGenericAllocationHandle create(size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_SUCCESS(DRIVER(cuMemCreate)(&handle, bytes, &properties_, 0));
    return handle;
  }
  void open(CUdeviceptr pointer, size_t bytes) {
    const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_SUCCESS(DRIVER(cuMemSetAccess)(pointer, bytes, &access, 1));
  }
  // `steps` pieces of memory of one step each, mapped one after the other.
  CUdeviceptr mapped(size_t steps) {
    const CUdeviceptr pointer = reserve(steps * step_);
    for (size_t i = 0; i < steps; ++i) {
      const CUmemGenericAllocationHandle handle = create(step_);
      EXPECT_SUCCESS(DRIVER(cuMemMap)(pointer + i * step_, step_, 0, handle, 0));
      EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
    }
    open(pointer, steps * step_);
    return pointer;
  }
  void unmap(CUdeviceptr pointer, size_t bytes) {
    EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer, bytes));
    EXPECT_SUCCESS(DRIVER(cuMemAddressFree)(pointer, bytes));
  }
  static void* raw(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }
  static size_t free_memory() {
    size_t free = 0, total = 0;
    EXPECT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
    return free;
  }

  CUmemAllocationProp properties_{};
  size_t step_ = 0;
};

TEST_F(CudaVirtualMemory, MappedMemoryIsMemory) {
  const CUdeviceptr pointer = mapped(1);
  std::vector<int> from(1024, 7), to(1024, 0);
  EXPECT_SUCCESS(cuda().cudaMemcpy(raw(pointer), from.data(), 4096, cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cuda().cudaMemcpy(to.data(), raw(pointer), 4096, cudaMemcpyDeviceToHost));
  EXPECT_EQ(from, to);
  cudaPointerAttributes attributes{};
  EXPECT_SUCCESS(cuda().cudaPointerGetAttributes(&attributes, raw(pointer)));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  unmap(pointer, step_);
}

// What is mapped side by side is one range of addresses.
TEST_F(CudaVirtualMemory, ACopyMayLieAcrossMappings) {
  const CUdeviceptr pointer = mapped(2);
  const CUdeviceptr middle = pointer + step_ - 2048;
  std::vector<char> from(4096, 5), to(4096, 0);
  EXPECT_SUCCESS(cuda().cudaMemcpy(raw(middle), from.data(), 4096, cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cuda().cudaMemcpy(to.data(), raw(middle), 4096, cudaMemcpyDeviceToHost));
  EXPECT_EQ(from, to);
  unmap(pointer, 2 * step_);
}

// cuMemAddressReserve reserves addresses, not memory.
TEST_F(CudaVirtualMemory, AddressesTakeNoMemory) {
  const size_t before = free_memory();
  const CUdeviceptr pointer = reserve(64 * step_);
  EXPECT_EQ(free_memory(), before);
  EXPECT_SUCCESS(DRIVER(cuMemAddressFree)(pointer, 64 * step_));
}

// cuMemCreate takes the memory; it is given back when no handle and no mapping is left.
TEST_F(CudaVirtualMemory, MemoryLivesWhileItIsMapped) {
  const size_t before = free_memory();
  const CUmemGenericAllocationHandle handle = create(step_);
  EXPECT_EQ(free_memory(), before - step_);
  const CUdeviceptr pointer = reserve(step_);
  EXPECT_SUCCESS(DRIVER(cuMemMap)(pointer, step_, 0, handle, 0));
  EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
  EXPECT_EQ(free_memory(), before - step_);
  open(pointer, step_);
  EXPECT_SUCCESS(cuda().cudaMemset(raw(pointer), 1, step_));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer, step_));
  EXPECT_EQ(free_memory(), before);
  EXPECT_SUCCESS(DRIVER(cuMemAddressFree)(pointer, step_));
}

// One memory at two addresses: what one writes the other reads.
TEST_F(CudaVirtualMemory, MemoryMayBeMappedTwice) {
  const CUmemGenericAllocationHandle handle = create(step_);
  const CUdeviceptr first = reserve(step_), second = reserve(step_);
  for (const CUdeviceptr pointer : {first, second}) {
    EXPECT_SUCCESS(DRIVER(cuMemMap)(pointer, step_, 0, handle, 0));
    open(pointer, step_);
  }
  EXPECT_SUCCESS(cuda().cudaMemset(raw(first), 3, 4));
  int value = 0;
  EXPECT_SUCCESS(cuda().cudaMemcpy(&value, raw(second), 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 0x03030303);
  EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
  unmap(first, step_);
  unmap(second, step_);
}

// "Mapping Memory": a mapping has no access rights until cuMemSetAccess.
TEST_F(CudaVirtualMemory, AMappingIsClosedAtFirst) {
  const CUdeviceptr pointer = reserve(step_);
  const CUmemGenericAllocationHandle handle = create(step_);
  EXPECT_SUCCESS(DRIVER(cuMemMap)(pointer, step_, 0, handle, 0));
  int value = 0;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cuda().cudaMemcpy(&value, raw(pointer), 4, cudaMemcpyDeviceToHost));
  EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
  unmap(pointer, step_);
}

// cuMemUnmap: the range must be that of whole mappings.
TEST_F(CudaVirtualMemory, WhatIsNotMappedIsNotUnmapped) {
  const CUdeviceptr pointer = mapped(1);
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemUnmap)(pointer, 2 * step_));
  unmap(pointer, step_);
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemUnmap)(pointer, step_));
}

TEST_F(CudaVirtualMemory, APartCanBeUnmapped) {
  const CUdeviceptr pointer = mapped(3);
  EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer + step_, step_));
  EXPECT_SUCCESS(cuda().cudaMemset(raw(pointer), 1, step_));
  EXPECT_SUCCESS(cuda().cudaMemset(raw(pointer + 2 * step_), 1, step_));
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaMemset(raw(pointer + step_), 1, 4));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer, step_));
  EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer + 2 * step_, step_));
  EXPECT_SUCCESS(DRIVER(cuMemAddressFree)(pointer, 3 * step_));
}

// cuMemAddressFree: the reservation's own address and size, with nothing mapped.
TEST_F(CudaVirtualMemory, OnlyAWholeEmptyReservationIsFreed) {
  const CUdeviceptr pointer = mapped(2);
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemAddressFree)(pointer, 2 * step_));
  EXPECT_SUCCESS(DRIVER(cuMemUnmap)(pointer, 2 * step_));
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemAddressFree)(pointer, step_));
  EXPECT_SUCCESS(DRIVER(cuMemAddressFree)(pointer, 2 * step_));
}

// cuMemCreate: a multiple of the granularity.
TEST_F(CudaVirtualMemory, SizesAreMultiplesOfTheGranularity) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemCreate)(&handle, step_ + 1, &properties_, 0));
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemCreate)(&handle, 0, &properties_, 0));
}

TEST_F(CudaVirtualMemory, MoreThanTheDeviceHasIsOutOfMemory) {
  size_t free = 0, total = 0;
  EXPECT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA(cudaErrorMemoryAllocation,
              DRIVER(cuMemCreate)(&handle, (total / step_ + 1) * step_, &properties_, 0));
}

// cuMemMap: the range must be reserved and not mapped.
TEST_F(CudaVirtualMemory, AddressesAreMappedOnce) {
  const CUdeviceptr pointer = mapped(1);
  const CUmemGenericAllocationHandle handle = create(step_);
  EXPECT_CUDA(cudaErrorInvalidValue, DRIVER(cuMemMap)(pointer, step_, 0, handle, 0));
  EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
  unmap(pointer, step_);
}

TEST_F(CudaVirtualMemory, CudaFreeDoesNotTakeIt) {
  const CUdeviceptr pointer = mapped(1);
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFree(raw(pointer)));
  unmap(pointer, step_);
}

// cuMemRetainAllocationHandle: one more reference to the memory behind an address.
TEST_F(CudaVirtualMemory, AHandleIsFoundByAddress) {
  const size_t before = free_memory();
  const CUdeviceptr pointer = mapped(1);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_SUCCESS(DRIVER(cuMemRetainAllocationHandle)(&handle, raw(pointer + 100)));
  unmap(pointer, step_);
  EXPECT_EQ(free_memory(), before - step_);
  EXPECT_SUCCESS(DRIVER(cuMemRelease)(handle));
  EXPECT_EQ(free_memory(), before);
}

}  // namespace
}  // namespace anvil::runtime::testing
