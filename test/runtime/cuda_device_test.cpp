// Device management. Rules: CUDA Runtime API reference, "Device Management", and
// CUDA C++ Programming Guide, "Multi-Device System".
#include <cstring>
#include <thread>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaDevice = CudaTest;

TEST_F(CudaDevice, CountIsAtLeastOne) {
  int count = 0;
  EXPECT_SUCCESS(cuda().cudaGetDeviceCount(&count));
  EXPECT_GE(count, 1);
}

TEST_F(CudaDevice, IndexOutOfRangeIsInvalidDevice) {
  int count = 0;
  ASSERT_SUCCESS(cuda().cudaGetDeviceCount(&count));
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(count));
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(-1));
  cudaDeviceProp properties;
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaGetDeviceProperties(&properties, count));
  int value = 0;
  EXPECT_CUDA(cudaErrorInvalidDevice,
              cuda().cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));
}

TEST_F(CudaDevice, FailedSetDeviceLeavesTheCurrentDevice) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(1000));
  int device = -1;
  EXPECT_SUCCESS(cuda().cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
}

// Programming Guide, "Device Selection": per host thread, device 0 at first.
TEST_F(TwoDeviceTest, CurrentDeviceBelongsToTheThread) {
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  int other = -1;
  std::thread([&] { EXPECT_SUCCESS(cuda().cudaGetDevice(&other)); }).join();
  EXPECT_EQ(other, 0);
  int own = -1;
  EXPECT_SUCCESS(cuda().cudaGetDevice(&own));
  EXPECT_EQ(own, 1);
}

TEST_F(CudaDevice, PropertiesAndAttributesAgree) {
  cudaDeviceProp properties;
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&properties, 0));
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    EXPECT_SUCCESS(cuda().cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  EXPECT_EQ(properties.major, attribute(cudaDevAttrComputeCapabilityMajor));
  EXPECT_EQ(properties.minor, attribute(cudaDevAttrComputeCapabilityMinor));
  EXPECT_EQ(properties.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
  EXPECT_EQ(properties.warpSize, attribute(cudaDevAttrWarpSize));
  EXPECT_EQ(properties.maxThreadsPerBlock, attribute(cudaDevAttrMaxThreadsPerBlock));
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor,
            attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
  EXPECT_EQ(properties.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
  EXPECT_EQ(properties.sharedMemPerBlock,
            static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock)));
  EXPECT_EQ(properties.sharedMemPerBlockOptin,
            static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
  EXPECT_EQ(properties.unifiedAddressing, attribute(cudaDevAttrUnifiedAddressing));
}

TEST_F(CudaDevice, UnknownAttributeIsInvalidValue) {
  int value = 0;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cuda().cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(255), 0));
}

TEST_F(CudaDevice, PropertiesHaveAName) {
  cudaDeviceProp properties;
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&properties, 0));
  EXPECT_GT(std::strlen(properties.name), 0u);
  EXPECT_EQ(properties.warpSize, 32);
}

TEST_F(TwoDeviceTest, DevicesHaveDifferentUuids) {
  cudaDeviceProp first, second;
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&first, 0));
  ASSERT_SUCCESS(cuda().cudaGetDeviceProperties(&second, 1));
  EXPECT_NE(0, std::memcmp(&first.uuid, &second.uuid, sizeof(first.uuid)));
}

// cudaDeviceGetPCIBusId: domain:bus:device.function; the buffer must hold it.
TEST_F(CudaDevice, PciBusIdIsWritten) {
  char text[32] = "";
  EXPECT_SUCCESS(cuda().cudaDeviceGetPCIBusId(text, sizeof(text), 0));
  unsigned domain, bus, slot, function;
  EXPECT_EQ(4, std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function)) << text;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaDeviceGetPCIBusId(text, 4, 0));
}

// cudaDeviceGetStreamPriorityRange: a lower number is a greater priority.
TEST_F(CudaDevice, GreatestPriorityIsTheSmallestNumber) {
  int least = 1, greatest = 1;
  EXPECT_SUCCESS(cuda().cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LE(greatest, least);
  EXPECT_EQ(least, 0);
}

TEST_F(CudaDevice, VersionIsThirteen) {
  int runtime = 0, driver = 0;
  EXPECT_SUCCESS(cuda().cudaRuntimeGetVersion(&runtime));
  EXPECT_SUCCESS(cuda().cudaDriverGetVersion(&driver));
  EXPECT_EQ(runtime / 1000, 13);
  EXPECT_GE(driver, runtime / 1000 * 1000);
}

// cudaDeviceSynchronize: blocks until all that was asked of the device is done.
TEST_F(CudaDevice, SynchronizeWaitsForEveryStream) {
  TestStream first, second;
  Gate gate;
  gate.close(first);
  gate.close(second);
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    returned = true;
  });
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(first));
  EXPECT_FALSE(returned);
  gate.open();
  waiter.join();
  EXPECT_SUCCESS(cuda().cudaStreamQuery(first));
  EXPECT_SUCCESS(cuda().cudaStreamQuery(second));
}

}  // namespace
}  // namespace anvil::runtime::testing
