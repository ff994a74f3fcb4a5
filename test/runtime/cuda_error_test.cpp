// Error handling. Rules: CUDA Runtime API reference, "Error Handling".
#include <thread>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

using CudaError = CudaTest;

// cudaGetLastError: the last error of the calling thread, which it resets.
TEST_F(CudaError, GetLastErrorReturnsAndResets) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(-1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaGetLastError());
  EXPECT_SUCCESS(cuda().cudaGetLastError());
}

// cudaPeekAtLastError: as above, without the reset.
TEST_F(CudaError, PeekDoesNotReset) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(-1));
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaPeekAtLastError());
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaPeekAtLastError());
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaGetLastError());
}

TEST_F(CudaError, ASuccessfulCallKeepsTheLastError) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(-1));
  EXPECT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaGetLastError());
}

// Threads have a last error each.
TEST_F(CudaError, LastErrorBelongsToTheThread) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(-1));
  std::thread([] { EXPECT_SUCCESS(cuda().cudaGetLastError()); }).join();
}

TEST_F(CudaError, NamesAndTexts) {
  EXPECT_STREQ("cudaSuccess", cuda().cudaGetErrorName(cudaSuccess));
  EXPECT_STREQ("cudaErrorMemoryAllocation", cuda().cudaGetErrorName(cudaErrorMemoryAllocation));
  EXPECT_STREQ("no error", cuda().cudaGetErrorString(cudaSuccess));
  EXPECT_STREQ("out of memory", cuda().cudaGetErrorString(cudaErrorMemoryAllocation));
  EXPECT_STREQ("invalid device ordinal", cuda().cudaGetErrorString(cudaErrorInvalidDevice));
}

// cudaGetErrorName and cudaGetErrorString have a text for other codes.
TEST_F(CudaError, UnknownCodeIsUnrecognized) {
  const auto unknown = static_cast<cudaError_t>(12345);
  EXPECT_STREQ("unrecognized error code", cuda().cudaGetErrorName(unknown));
  EXPECT_STREQ("unrecognized error code", cuda().cudaGetErrorString(unknown));
}

// cudaErrorLaunchFailure (enum cudaError): the process is left in an inconsistent
// state, and all further CUDA work of the context gives the same error.
TEST(CudaStickyError, FailedKernelIsReportedByTheNextSynchronisationAndStays) {
  expect_in_new_process(
      [&] {
        TestStream stream;
        void* before = nullptr;
        EXPECT_SUCCESS(cuda().cudaMalloc(&before, 16));
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(failing_kernel(), dim3(1), dim3(1), nullptr, 0, stream));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaStreamSynchronize(stream));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaGetLastError());
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaGetLastError());
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaDeviceSynchronize());
        void* pointer = nullptr;
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaMalloc(&pointer, 16));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaMemsetAsync(before, 0, 16, stream));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaStreamQuery(stream));
      },
      "");
}

// cudaErrorIllegalAddress (enum cudaError): a load or store on an invalid address.
TEST(CudaStickyError, IllegalAddressIsReported) {
  expect_in_new_process(
      [&] {
        DeviceArray<float> array(16);
        float* pointer = kernel_pointer(array.get());
        void* arguments[] = {&pointer};
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(wild_kernel(), dim3(1), dim3(1), arguments, 0, nullptr));
        EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
      },
      "");
}

// cudaLaunchHostFunc: not called if there is an error in the context.
TEST(CudaStickyError, HostFunctionBehindAFailedKernelIsNotCalled) {
  expect_in_new_process(
      [&] {
        TestStream stream;
        Gate gate;
        gate.close(stream);
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(failing_kernel(), dim3(1), dim3(1), nullptr, 0, stream));
        bool called = false;
        EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
            stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
        gate.open();
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaStreamSynchronize(stream));
        EXPECT_FALSE(called);
      },
      "");
}

// Each device has a context of its own.
TEST(CudaStickyError, OtherDevicesGoOn) {
  expect_in_new_process(
      [&] {
        int devices = 0;
        EXPECT_SUCCESS(cuda().cudaGetDeviceCount(&devices));
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(failing_kernel(), dim3(1), dim3(1), nullptr, 0, nullptr));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaDeviceSynchronize());
        if (devices > 1) {
          EXPECT_SUCCESS(cuda().cudaSetDevice(1));
          EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        }
      },
      "");
}

}  // namespace
}  // namespace anvil::runtime::testing
