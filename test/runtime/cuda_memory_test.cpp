// Device memory. Rules: CUDA Runtime API reference, "Memory Management".
#include <cstdint>
#include <thread>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaMemory = CudaTest;

// cudaMalloc: the memory is suitably aligned for any kind of variable; the
// Programming Guide ("Device Memory Accesses") gives at least 256 bytes.
TEST_F(CudaMemory, AllocationsAreAlignedTo256Bytes) {
  for (const size_t bytes : {1, 100, 4096, 1 << 20}) {
    DeviceArray<char> array(bytes);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(array.get()) % 256) << bytes;
  }
}

TEST_F(CudaMemory, AllocationsDoNotOverlap) {
  DeviceArray<char> first(1000), second(1000);
  char* low = std::min(first.get(), second.get());
  char* high = std::max(first.get(), second.get());
  EXPECT_GE(high - low, 1000);
}

TEST_F(CudaMemory, ZeroBytesAreANullPointer) {
  void* pointer = &pointer;
  EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
}

// cudaMalloc returns cudaErrorMemoryAllocation in case of failure, which is not
// sticky.
TEST_F(CudaMemory, TooMuchIsOutOfMemoryAndTheProcessGoesOn) {
  size_t free = 0, total = 0;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
  void* pointer = nullptr;
  EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaMalloc(&pointer, total + (1 << 20)));
  EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaMalloc(&pointer, SIZE_MAX));
  EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaGetLastError());
  EXPECT_SUCCESS(cuda().cudaGetLastError());
  DeviceArray<char> array(16);
}

// cudaFree: with a null pointer no operation is performed; a pointer that
// cudaMalloc did not return, or that was freed before, is an error.
TEST_F(CudaMemory, FreeTakesNullAndRefusesStrangers) {
  EXPECT_SUCCESS(cuda().cudaFree(nullptr));
  void* pointer = nullptr;
  ASSERT_SUCCESS(cuda().cudaMalloc(&pointer, 1024));
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFree(static_cast<char*>(pointer) + 256));
  EXPECT_SUCCESS(cuda().cudaFree(pointer));
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFree(pointer));
  int on_stack = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaFree(&on_stack));
}

TEST_F(CudaMemory, MemGetInfoFollowsAllocations) {
  constexpr size_t kBytes = 64 << 20;
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&before, &total));
  EXPECT_LE(before, total);
  {
    DeviceArray<char> array(kBytes);
    ASSERT_SUCCESS(cuda().cudaMemGetInfo(&during, &total));
  }
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&after, &total));
  EXPECT_GE(before - during, kBytes);
  EXPECT_EQ(after, before);
}

TEST_F(CudaMemory, TotalIsThatOfTheProperties) {
  size_t free = 0, total = 0;
  cudaDeviceProp properties;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&properties, 0));
  EXPECT_EQ(total, properties.totalGlobalMem);
}

// Freed memory can be allocated again, in any order and size.
TEST_F(CudaMemory, ComesBackAfterFree) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&before, &total));
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> pointers;
    for (int i = 1; i <= 50; ++i) {
      void* pointer = nullptr;
      ASSERT_SUCCESS(cuda().cudaMalloc(&pointer, i * 10000));
      pointers.push_back(pointer);
    }
    for (size_t i = 0; i < pointers.size(); i += 2) {
      ASSERT_SUCCESS(cuda().cudaFree(pointers[i]));
    }
    for (size_t i = 1; i < pointers.size(); i += 2) {
      ASSERT_SUCCESS(cuda().cudaFree(pointers[i]));
    }
  }
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
}

TEST_F(TwoDeviceTest, MemoryIsCountedForTheDeviceThatWasCurrent) {
  size_t first_before = 0, first_after = 0, total = 0;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&first_before, &total));
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  size_t second_before = 0, second_after = 0;
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&second_before, &total));
  DeviceArray<char> array(64 << 20);
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&second_after, &total));
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  ASSERT_SUCCESS(cuda().cudaMemGetInfo(&first_after, &total));
  EXPECT_EQ(first_after, first_before);
  EXPECT_LT(second_after, second_before);
}

// Any thread may free what another allocated.
TEST_F(CudaMemory, ThreadsAllocateAndFree) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        void* pointer = nullptr;
        ASSERT_SUCCESS(cuda().cudaMalloc(&pointer, 1000 + i));
        ASSERT_SUCCESS(cuda().cudaFree(pointer));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace anvil::runtime::testing
