// The driver API as far as programs on the runtime API use it. Rules: CUDA Driver
// API reference, "Primary Context Management", "Context Management"; CUDA Runtime
// API reference, "Interactions with the CUDA Driver API" and cudaGetDriverEntryPoint.
#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

using CudaDriverApi = CudaTest;

// cudaGetDriverEntryPointByVersion: the status says whether the name is known.
TEST_F(CudaDriverApi, AnUnknownNameIsNotFound) {
  void* function = &function;
  cudaDriverEntryPointQueryResult status{};
  EXPECT_SUCCESS(RUNTIME(cudaGetDriverEntryPointByVersion)("cuNoSuchFunction", &function, 12000,
                                                           cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
}

// "Interactions with the CUDA Driver API": the runtime uses the primary context.
TEST_F(CudaDriverApi, TheRuntimesContextIsThePrimaryContext) {
  DeviceArray<int> array(1);
  CUcontext current = nullptr, primary = nullptr;
  CUdevice device = -1;
  EXPECT_SUCCESS(DRIVER(cuDeviceGet)(&device, 0));
  EXPECT_SUCCESS(DRIVER(cuCtxGetCurrent)(&current));
  EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxRetain)(&primary, device));
  EXPECT_NE(current, nullptr);
  EXPECT_EQ(current, primary);
  EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxRelease)(device));
  unsigned flags = 1;
  int active = 0;
  EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxGetState)(device, &flags, &active));
  EXPECT_EQ(active, 1);
}

// A device that nothing used has no context; asking about it makes none.
TEST(CudaDriverContext, AnUnusedDeviceHasNoContext) {
  expect_in_new_process(
      [] {
        int devices = 0;
        EXPECT_SUCCESS(cuda().cudaGetDeviceCount(&devices));
        unsigned flags = 0;
        int active = 1;
        const auto init = DRIVER(cuInit);
        EXPECT_SUCCESS(init(0));
        EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active));
        EXPECT_EQ(active, 0);
        EXPECT_SUCCESS(cuda().cudaFree(nullptr));
        EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active));
        EXPECT_EQ(active, 1);
      },
      "");
}

// cuCtxSetCurrent changes the device that the runtime uses.
TEST_F(TwoDeviceTest, TheCurrentContextIsTheCurrentDevice) {
  CUcontext second = nullptr;
  EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxRetain)(&second, 1));
  EXPECT_SUCCESS(DRIVER(cuCtxPushCurrent)(second));
  int device = -1;
  EXPECT_SUCCESS(cuda().cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  CUcontext popped = nullptr;
  EXPECT_SUCCESS(DRIVER(cuCtxPopCurrent)(&popped));
  EXPECT_EQ(popped, second);
  EXPECT_SUCCESS(cuda().cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_SUCCESS(DRIVER(cuDevicePrimaryCtxRelease)(1));
}

// cuMemGetAddressRange: the allocation that an address is in.
TEST_F(CudaDriverApi, AnAllocationIsFoundByAddress) {
  DeviceArray<char> array(1 << 21);
  CUdeviceptr begin = 0;
  size_t bytes = 0;
  EXPECT_SUCCESS(DRIVER(cuMemGetAddressRange)(&begin, &bytes,
                                              reinterpret_cast<CUdeviceptr>(array.get() + 100)));
  EXPECT_EQ(begin, reinterpret_cast<CUdeviceptr>(array.get()));
  EXPECT_EQ(bytes, array.bytes());
}

// cuMemsetD32Async: `count` words, in stream order.
TEST_F(CudaDriverApi, WordsAreFilled) {
  DeviceArray<int> array(4);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, array.bytes()));
  EXPECT_SUCCESS(DRIVER(cuMemsetD32Async)(reinterpret_cast<CUdeviceptr>(array.get() + 1),
                                          0x01020304, 2, nullptr));
  int values[4] = {};
  EXPECT_SUCCESS(cuda().cudaMemcpy(values, array.get(), sizeof(values), cudaMemcpyDeviceToHost));
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 0x01020304);
  EXPECT_EQ(values[2], 0x01020304);
  EXPECT_EQ(values[3], 0);
}

// The driver API leaves the runtime's last error alone.
TEST_F(CudaDriverApi, ADriverErrorIsNoRuntimeError) {
  CUdevice device = -1;
  EXPECT_CUDA(cudaErrorInvalidDevice, DRIVER(cuDeviceGet)(&device, 1000));
  EXPECT_SUCCESS(cuda().cudaGetLastError());
  const char* text = nullptr;
  EXPECT_SUCCESS(DRIVER(cuGetErrorString)(CUDA_ERROR_INVALID_DEVICE, &text));
  EXPECT_STREQ(text, "invalid device ordinal");
}

}  // namespace
}  // namespace anvil::runtime::testing
