// Kernels that host code registers, and what nvcc's generated code calls.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

class SimulatorKernel : public CudaTest {
 protected:
  SimulatorKernel() { setenv("ANVIL_DRIVER", "simulator", 1); }
};

struct alignas(64) Large {
  char bytes[600];
};

TEST_F(SimulatorKernel, GetsItsArgumentsAlignedAndItsConfiguration) {
  struct Seen {
    bool aligned = false;
    char last = 0;
    int small = 0;
    dim3 grid, block;
    size_t shared_bytes = 0;
  };
  static constexpr size_t kSizes[] = {sizeof(int), sizeof(Large), sizeof(Seen*)};
  static int handle;
  const anvilKernel kernel{"look",
                           [](const anvilLaunch* launch) {
                             Seen& seen = **static_cast<Seen**>(launch->arguments[2]);
                             const auto* large = static_cast<const Large*>(launch->arguments[1]);
                             seen.aligned = reinterpret_cast<uintptr_t>(large) % 64 == 0;
                             seen.last = large->bytes[599];
                             seen.small = *static_cast<int*>(launch->arguments[0]);
                             seen.grid = launch->grid;
                             seen.block = launch->block;
                             seen.shared_bytes = launch->shared_bytes;
                           },
                           kSizes, 3};
  ASSERT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
  Seen seen;
  Large large{};
  large.bytes[599] = 9;
  int small = 5;
  Seen* out = &seen;
  void* arguments[] = {&small, &large, &out};
  EXPECT_SUCCESS(
      cuda().cudaLaunchKernel(&handle, dim3(2, 3, 4), dim3(5, 6, 7), arguments, 100, nullptr));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_TRUE(seen.aligned);
  EXPECT_EQ(seen.last, 9);
  EXPECT_EQ(seen.small, 5);
  EXPECT_EQ(seen.grid.y, 3u);
  EXPECT_EQ(seen.block.z, 7u);
  EXPECT_EQ(seen.shared_bytes, 100u);
}

// CUDA's limit for kernel parameters is 32,764 bytes.
TEST_F(SimulatorKernel, TakesTheLargestArguments) {
  struct Huge {
    char bytes[32764 - 8];
  };
  static constexpr size_t kSizes[] = {sizeof(Huge), sizeof(int*)};
  static int handle;
  const anvilKernel kernel{
      "sum",
      [](const anvilLaunch* launch) {
        int& sum = **static_cast<int**>(launch->arguments[1]);
        for (const char byte : static_cast<Huge*>(launch->arguments[0])->bytes) {
          sum += byte;
        }
      },
      kSizes, 2};
  ASSERT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
  Huge huge;
  std::memset(&huge, 1, sizeof(huge));
  int sum = 0;
  int* out = &sum;
  void* arguments[] = {&huge, &out};
  EXPECT_SUCCESS(cuda().cudaLaunchKernel(&handle, dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(sum, static_cast<int>(sizeof(huge)));
}

TEST_F(SimulatorKernel, RegistrationIsChecked) {
  static int handle;
  const anvilKernel without_body{"none", nullptr, nullptr, 0};
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().anvilSimulatorRegisterKernel(&handle, &without_body));
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().anvilSimulatorRegisterKernel(nullptr, nullptr));
}

TEST_F(SimulatorKernel, ManyCanBeRegistered) {
  static std::vector<char> handles(5000);
  static std::atomic<int> calls;
  calls = 0;
  for (char& handle : handles) {
    const anvilKernel kernel{"count", [](const anvilLaunch*) { ++calls; }, nullptr, 0};
    ASSERT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
  }
  for (char& handle : handles) {
    ASSERT_SUCCESS(cuda().cudaLaunchKernel(&handle, dim3(1), dim3(1), nullptr, 0, nullptr));
  }
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(calls, 5000);
}

TEST_F(SimulatorKernel, AFailedAssertionIsCudaErrorAssert) {
  expect_in_new_process(
      [&] {
        static int handle;
        const anvilKernel kernel{
            "index", [](const anvilLaunch*) { throw std::out_of_range("index 7 of 5"); }, nullptr,
            0};
        EXPECT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
        EXPECT_SUCCESS(cuda().cudaLaunchKernel(&handle, dim3(1), dim3(1), nullptr, 0, nullptr));
        EXPECT_CUDA(cudaErrorAssert, cuda().cudaDeviceSynchronize());
      },
      "kernel 'index' on device 0 failed: index 7 of 5");
}

TEST_F(SimulatorKernel, KernelAddressKeepsNullAndPinnedAndRefusesPageable) {
  void* address = &address;
  EXPECT_SUCCESS(cuda().anvilSimulatorKernelAddress(nullptr, &address));
  EXPECT_EQ(address, nullptr);
  PinnedArray<int> pinned(10);
  EXPECT_SUCCESS(cuda().anvilSimulatorKernelAddress(pinned.get() + 5, &address));
  EXPECT_EQ(address, pinned.get() + 5);
  int on_stack = 0;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().anvilSimulatorKernelAddress(&on_stack, &address));
}

TEST_F(SimulatorKernel, DeviceRangeAgreesWithKernelAddress) {
  const anvilDeviceRange range = cuda().anvilSimulatorDeviceRange();
  int devices = 0;
  ASSERT_SUCCESS(cuda().cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    ASSERT_SUCCESS(cuda().cudaSetDevice(device));
    DeviceArray<char> array(100);
    EXPECT_GE(array.get(), range.begin);
    EXPECT_LT(array.get(), range.end);
    void* address = nullptr;
    EXPECT_SUCCESS(cuda().anvilSimulatorKernelAddress(array.get(), &address));
    EXPECT_EQ(address, array.get() + range.distance);
  }
}

// As nvcc's generated code does it, with a kernel of which only device code
// exists.
TEST_F(SimulatorKernel, ALibraryOfNvccRegistersAndItsKernelsAreRefusedByName) {
  expect_in_new_process(
      [&] {
        static int image;
        static char host_function;
        static char name[] = "_Z5scalePff";
        void** handle = cuda().__cudaRegisterFatBinary(&image);
        cuda().__cudaRegisterFunction(handle, &host_function, name, name, -1, nullptr, nullptr,
                                      nullptr, nullptr, nullptr);
        cuda().__cudaRegisterFatBinaryEnd(handle);
        EXPECT_EQ(0u, cuda().__cudaPushCallConfiguration(dim3(2), dim3(32), 16, nullptr));
        dim3 grid;
        dim3 block;
        size_t shared_bytes = 0;
        cudaStream_t stream = nullptr;
        EXPECT_SUCCESS(cuda().__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
        EXPECT_EQ(grid.x, 2u);
        EXPECT_EQ(block.x, 32u);
        EXPECT_EQ(shared_bytes, 16u);
        cudaKernel_t kernel = nullptr;
        EXPECT_SUCCESS(cuda().__cudaGetKernel(&kernel, &host_function));
        EXPECT_CUDA(cudaErrorInvalidDeviceFunction,
                    cuda().__cudaLaunchKernel(kernel, grid, block, nullptr, 0, stream));
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        cuda().__cudaUnregisterFatBinary(handle);
      },
      "kernel 'scale\\(float\\*, float\\)' has only device code");
}

TEST_F(SimulatorKernel, PopWithoutPushIsAnError) {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaErrorMissingConfiguration,
              cuda().__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
}

// As on CUDA, whose limit is not documented: a program that launches faster than
// its device runs waits, and its queue does not grow without end.
TEST_F(SimulatorKernel, ALaunchWaitsForRoomInAFullQueue) {
  const TestStream stream;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1200; ++i) {
    ASSERT_SUCCESS(cuda().cudaLaunchKernel(slow_kernel(), dim3(1), dim3(1), nullptr, 0, stream));
  }
  // 1024 may be queued, so at least 175 of a millisecond each have ended.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(175));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
}

TEST_F(SimulatorKernel, AFullQueueBehindAHostFunctionDoesNotHoldTheCallerUp) {
  const TestStream stream;
  Gate gate;
  gate.close(stream);  // opens only when this thread gets there
  for (int i = 0; i < 1200; ++i) {
    ASSERT_SUCCESS(cuda().cudaLaunchKernel(slow_kernel(), dim3(1), dim3(1), nullptr, 0, stream));
  }
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
}

}  // namespace
}  // namespace anvil::runtime::testing
