#include "runtime/device.h"

#include <type_traits>

#include "runtime/error.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using Device = CudaTest;

TEST_F(Device, CountAgreesWithTheDriver) {
  int count = 0;
  ASSERT_SUCCESS(cuda().cudaGetDeviceCount(&count));
  EXPECT_EQ(device_count(), count);
}

TEST_F(TwoDeviceTest, GuardRestoresTheDevice) {
  {
    const DeviceGuard guard(DeviceIndex{1});
    EXPECT_EQ(current_device(), DeviceIndex{1});
    {
      const DeviceGuard inner(DeviceIndex{0});
      EXPECT_EQ(current_device(), DeviceIndex{0});
    }
    EXPECT_EQ(current_device(), DeviceIndex{1});
  }
  EXPECT_EQ(current_device(), DeviceIndex{0});
}

TEST_F(Device, GuardOfAnUnknownDeviceThrowsAndKeepsTheDevice) {
  EXPECT_THROW(DeviceGuard guard(DeviceIndex{1000}), Error);
  EXPECT_EQ(current_device(), DeviceIndex{0});
  EXPECT_SUCCESS(cuda().cudaGetLastError());
}

TEST_F(TwoDeviceTest, PeerAccessMayBeEnabledTwice) {
  if (!can_access_peer(DeviceIndex{0}, DeviceIndex{1})) {
    GTEST_SKIP() << "the first two devices of this machine have no peer access";
  }
  enable_peer_access(DeviceIndex{0}, DeviceIndex{1});
  enable_peer_access(DeviceIndex{0}, DeviceIndex{1});
  EXPECT_SUCCESS(cuda().cudaGetLastError());
  EXPECT_SUCCESS(cuda().cudaDeviceDisablePeerAccess(1));
}

// No number is taken for a device.
static_assert(!std::is_convertible_v<int, DeviceIndex>);
static_assert(!std::is_constructible_v<DeviceGuard, int>);
static_assert(!std::is_copy_constructible_v<DeviceGuard>);

}  // namespace
}  // namespace anvil::runtime::testing
