#include "backend/Functions.h"

#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Functions, CountingDevicesDoesNotInitialize) {
  EXPECT_EQ(device_count(), 2);
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
  EXPECT_FALSE(has_primary_context(0));
}

TEST(Functions, TheCurrentDeviceBelongsToTheThread) {
  set_device(1);
  c10::DeviceIndex elsewhere = -1;
  std::thread([&] { elsewhere = current_device(); }).join();
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(elsewhere, 0);
}

TEST(Functions, SettingADeviceTellsTheDriver) {
  set_device(1);
  int device = -1;
  ASSERT_EQ(runtime::table().cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST(Functions, AnIndexOutOfRangeNamesTheDevicesThereAre) {
  const std::string message = message_of([] { set_device(2); });
  EXPECT_THAT(message, HasSubstr("index 2 is out of range"));
  EXPECT_THAT(message, HasSubstr("2 devices (anvil:0 to anvil:1)"));
  EXPECT_EQ(current_device(), 0);
  EXPECT_THROW(check_device_index(-1), c10::Error);
  EXPECT_THROW(device_synchronize(7), c10::Error);
}

TEST(Functions, ExchangeReturnsTheDeviceBeforeAndANegativeOneChangesNothing) {
  EXPECT_EQ(exchange_device(1), 0);
  EXPECT_EQ(maybe_exchange_device(-1), 1);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(maybe_exchange_device(0), 1);
  EXPECT_EQ(current_device(), 0);
}

TEST(Functions, SynchronizingADeviceWaitsForItAndForNoOther) {
  const Stream first = getStreamFromPool(false, 0);
  const Stream second = getStreamFromPool(false, 1);
  test::Gate gate = test::Gate(first);
  bool done = false;
  ASSERT_EQ(runtime::table().cudaLaunchHostFunc(
                second.stream(), [](void* flag) { *static_cast<bool*>(flag) = true; }, &done),
            cudaSuccess);
  device_synchronize(1);  // would never return if it waited for device 0
  EXPECT_TRUE(done);
  EXPECT_FALSE(first.query());
  EXPECT_EQ(current_device(), 0);
  gate.open();
  device_synchronize(0);
  EXPECT_TRUE(first.query());
}

TEST(Functions, UsingOneDeviceLeavesTheOtherUnused) {
  set_device(1);
  EXPECT_TRUE(has_primary_context(1));
  EXPECT_FALSE(has_primary_context(0));
}

TEST(Guard, PutsTheDeviceBackWhenAnErrorPasses) {
  EXPECT_THROW(
      {
        const c10::DeviceGuard guard(c10::Device(kDeviceType, 1));
        EXPECT_EQ(current_device(), 1);
        TORCH_CHECK(false, "an error");
      },
      c10::Error);
  EXPECT_EQ(current_device(), 0);
}

TEST(Guard, KnowsWhichDtypesTensorsMayHave) {
  const auto types = GuardImpl().getDeviceCapability({kDeviceType, 0}).capability_data;
  EXPECT_TRUE(types.supported_scalar_types.has_Float);
  EXPECT_TRUE(types.supported_scalar_types.has_BFloat16);
  EXPECT_TRUE(types.supported_scalar_types.has_UInt64);
  EXPECT_TRUE(types.supported_scalar_types.has_Float8_e4m3fn);
  EXPECT_FALSE(types.supported_scalar_types.has_QInt8);
  EXPECT_FALSE(types.supported_scalar_types.has_Int4);
}

TEST(Guard, RefusesDevicesOfOtherTypes) {
  EXPECT_THROW(GuardImpl().setDevice(c10::Device(c10::kCPU)), c10::Error);
  EXPECT_THROW(GuardImpl().exchangeDevice(c10::Device(c10::kCUDA, 0)), c10::Error);
}

TEST(Guard, AnUncheckedSwitchDropsErrors) {
  set_device(0);
  GuardImpl().uncheckedSetDevice({kDeviceType, 9});
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(runtime::table().cudaPeekAtLastError(), cudaSuccess);
}

TEST(Guard, SynchronizesTheDeviceThatItIsGiven) {
  const Stream stream = getStreamFromPool(false, 1);
  bool done = false;
  ASSERT_EQ(runtime::table().cudaLaunchHostFunc(
                stream.stream(), [](void* flag) { *static_cast<bool*>(flag) = true; }, &done),
            cudaSuccess);
  GuardImpl().synchronizeDevice(1);
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace anvil
