// Kernel launches. Rules: CUDA Runtime API reference, "Execution Control" and
// "Occupancy"; CUDA C++ Programming Guide, table "Technical Specifications per
// Compute Capability" and "Stream and Event Behavior".
#include <vector>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

class CudaLaunch : public CudaTest {
 protected:
  // Adds `value` to the `n` elements; the result of cudaLaunchKernel.
  static cudaError_t add(float* array,
                         int n,
                         float value,
                         cudaStream_t stream,
                         dim3 grid = dim3(1),
                         dim3 block = dim3(32),
                         size_t shared_bytes = 0) {
    float* pointer = kernel_pointer(array);
    void* arguments[] = {&pointer, &n, &value};
    return cuda().cudaLaunchKernel(add_kernel(), grid, block, arguments, shared_bytes, stream);
  }
  static std::vector<float> read(const float* device, size_t n) {
    std::vector<float> values(n);
    EXPECT_SUCCESS(cuda().cudaMemcpy(values.data(), device, n * 4, cudaMemcpyDeviceToHost));
    return values;
  }
};

TEST_F(CudaLaunch, RunsTheKernelInStreamOrder) {
  DeviceArray<float> array(100);
  TestStream stream;
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 0, array.bytes(), stream));
  for (int i = 0; i < 10; ++i) {
    EXPECT_SUCCESS(add(array.get(), 100, 1.5f, stream));
  }
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(read(array.get(), 100), std::vector<float>(100, 15.0f));
}

// Programming Guide, "Asynchronous Concurrent Execution": launches return before
// the device has completed them; the arguments were copied.
TEST_F(CudaLaunch, ReturnsBeforeTheKernelRunsAndKeepsTheArguments) {
  DeviceArray<float> array(1);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, 4));
  TestStream stream(cudaStreamDefault);
  Gate gate;
  gate.close(stream);
  {
    float* pointer = kernel_pointer(array.get());
    int n = 1;
    float value = 2;
    void* arguments[] = {&pointer, &n, &value};
    EXPECT_SUCCESS(cuda().cudaLaunchKernel(add_kernel(), dim3(1), dim3(1), arguments, 0, stream));
    value = 100;
    n = 0;
  }
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(stream));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(read(array.get(), 1)[0], 2);
}

TEST_F(CudaLaunch, LimitsOfGridAndBlockAreChecked) {
  DeviceArray<float> array(1);
  const auto launch = [&](dim3 grid, dim3 block) {
    return add(array.get(), 1, 0, nullptr, grid, block);
  };
  EXPECT_SUCCESS(launch(dim3(1), dim3(1024)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(0), dim3(32)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1), dim3(0)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1), dim3(1025)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1), dim3(1024, 2)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1), dim3(1, 1, 65)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1, 65536), dim3(1)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, launch(dim3(1, 1, 65536), dim3(1)));
}

// A failed launch is not sticky: nothing ran.
TEST_F(CudaLaunch, AfterABadConfigurationTheDeviceGoesOn) {
  DeviceArray<float> array(1);
  EXPECT_CUDA(cudaErrorInvalidConfiguration, add(array.get(), 1, 0, nullptr, dim3(0)));
  EXPECT_CUDA(cudaErrorInvalidConfiguration, cuda().cudaGetLastError());
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_SUCCESS(add(array.get(), 1, 0, nullptr));
}

TEST_F(CudaLaunch, UnknownFunctionIsInvalid) {
  static int not_a_kernel;
  EXPECT_CUDA(cudaErrorInvalidDeviceFunction,
              cuda().cudaLaunchKernel(&not_a_kernel, dim3(1), dim3(1), nullptr, 0, nullptr));
  cudaFuncAttributes attributes;
  EXPECT_CUDA(cudaErrorInvalidDeviceFunction,
              cuda().cudaFuncGetAttributes(&attributes, &not_a_kernel));
}

// More than 48 KB of dynamic shared memory need
// cudaFuncAttributeMaxDynamicSharedMemorySize (Programming Guide, "Shared Memory").
TEST_F(CudaLaunch, LargeSharedMemoryNeedsOptIn) {
  DeviceArray<float> array(1);
  constexpr int kBytes = 64 * 1024;
  EXPECT_CUDA(cudaErrorInvalidValue, add(array.get(), 1, 0, nullptr, dim3(1), dim3(32), kBytes));
  EXPECT_SUCCESS(cuda().cudaFuncSetAttribute(add_kernel(),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  EXPECT_SUCCESS(add(array.get(), 1, 0, nullptr, dim3(1), dim3(32), kBytes));
  cudaFuncAttributes attributes;
  EXPECT_SUCCESS(cuda().cudaFuncGetAttributes(&attributes, add_kernel()));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, kBytes);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_SUCCESS(cuda().cudaFuncSetAttribute(
      add_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024));
}

TEST_F(CudaLaunch, OptInStopsAtTheDevicesLimit) {
  int limit = 0;
  ASSERT_SUCCESS(cuda().cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_CUDA(cudaErrorInvalidValue,
              cuda().cudaFuncSetAttribute(add_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          limit + 1));
}

// Occupancy is bounded by the threads of a multiprocessor, and falls with the
// shared memory of a block.
TEST_F(CudaLaunch, OccupancyFollowsTheLimits) {
  cudaDeviceProp properties;
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&properties, 0));
  int blocks = 0, with_shared = 0;
  EXPECT_SUCCESS(
      cuda().cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_kernel(), 256, 0));
  EXPECT_GE(blocks, 1);
  EXPECT_LE(blocks * 256, properties.maxThreadsPerMultiProcessor);
  EXPECT_LE(blocks, properties.maxBlocksPerMultiProcessor);
  EXPECT_SUCCESS(cuda().cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, add_kernel(),
                                                                      256, 48 * 1024));
  EXPECT_LT(with_shared, blocks);
}

// Programming Guide, "Stream and Event Behavior": a launch fails if its stream is
// not of the current device.
TEST_F(TwoDeviceTest, LaunchNeedsAStreamOfTheCurrentDevice) {
  DeviceArray<float> array(1);
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  TestStream stream;
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  float* pointer = kernel_pointer(array.get());
  int n = 1;
  float value = 1;
  void* arguments[] = {&pointer, &n, &value};
  EXPECT_CUDA(cudaErrorInvalidResourceHandle,
              cuda().cudaLaunchKernel(add_kernel(), dim3(1), dim3(1), arguments, 0, stream));
}

}  // namespace
}  // namespace anvil::runtime::testing
