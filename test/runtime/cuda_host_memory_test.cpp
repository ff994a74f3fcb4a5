// Page-locked host memory. Rules: CUDA Runtime API reference, cudaHostAlloc,
// cudaHostRegister; CUDA C++ Programming Guide, "Page-Locked Host Memory".
#include <cstdlib>
#include <memory>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaHostMemory = CudaTest;

struct Free {
  void operator()(void* pointer) const { std::free(pointer); }
};
using Pages = std::unique_ptr<char, Free>;

Pages pages(size_t bytes) { return Pages(static_cast<char*>(std::aligned_alloc(4096, bytes))); }

cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes;
  EXPECT_SUCCESS(cuda().cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

TEST_F(CudaHostMemory, HostCodeReadsAndWritesIt) {
  PinnedArray<int> array(1000);
  for (int i = 0; i < 1000; ++i) {
    array[i] = i;
  }
  EXPECT_EQ(array[999], 999);
}

TEST_F(CudaHostMemory, FreeTakesNullAndRefusesStrangers) {
  EXPECT_SUCCESS(cuda().cudaFreeHost(nullptr));
  int on_stack = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFreeHost(&on_stack));
  DeviceArray<int> array(1);
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFreeHost(array.get()));
}

TEST_F(CudaHostMemory, UnknownFlagIsInvalid) {
  void* pointer = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaHostAlloc(&pointer, 16, 0x100));
}

// cudaHostRegister: page-locks the range, so copies treat it as pinned memory.
TEST_F(CudaHostMemory, RegisteredMemoryBehavesAsPinned) {
  const Pages memory = pages(8192);
  EXPECT_EQ(cudaMemoryTypeUnregistered, type_of(memory.get()));
  EXPECT_SUCCESS(cuda().cudaHostRegister(memory.get(), 8192, cudaHostRegisterDefault));
  EXPECT_EQ(cudaMemoryTypeHost, type_of(memory.get() + 8191));
  {
    DeviceArray<char> array(8192);
    TestStream stream;
    Gate gate;
    gate.close(stream);
    memory.get()[0] = 1;
    EXPECT_SUCCESS(
        cuda().cudaMemcpyAsync(array.get(), memory.get(), 8192, cudaMemcpyHostToDevice, stream));
    memory.get()[0] = 2;  // not staged: the copy reads what is there when it runs
    gate.open();
    EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
    char value = 0;
    EXPECT_SUCCESS(cuda().cudaMemcpy(&value, array.get(), 1, cudaMemcpyDeviceToHost));
    EXPECT_EQ(value, 2);
  }
  EXPECT_SUCCESS(cuda().cudaHostUnregister(memory.get()));
  EXPECT_EQ(cudaMemoryTypeUnregistered, type_of(memory.get()));
}

TEST_F(CudaHostMemory, RegisteringTwiceIsAnError) {
  const Pages memory = pages(8192);
  EXPECT_SUCCESS(cuda().cudaHostRegister(memory.get(), 8192, cudaHostRegisterDefault));
  EXPECT_CUDA(cudaErrorHostMemoryAlreadyRegistered,
              cuda().cudaHostRegister(memory.get(), 8192, cudaHostRegisterDefault));
  EXPECT_SUCCESS(cuda().cudaHostUnregister(memory.get()));
  EXPECT_CUDA(cudaErrorHostMemoryNotRegistered, cuda().cudaHostUnregister(memory.get()));
}

TEST_F(CudaHostMemory, RegisteringNothingIsInvalid) {
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaHostRegister(nullptr, 4096, 0));
  const Pages memory = pages(4096);
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaHostRegister(memory.get(), 0, 0));
}

// cudaHostUnregister needs the pointer that was registered.
TEST_F(CudaHostMemory, UnregisteringAllocatedMemoryIsAnError) {
  PinnedArray<char> array(4096);
  EXPECT_NE(cudaSuccess, cuda().cudaHostUnregister(array.get()));
}

}  // namespace
}  // namespace anvil::runtime::testing
