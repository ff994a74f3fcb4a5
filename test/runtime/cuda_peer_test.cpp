// Peer access. Rules: CUDA Runtime API reference, "Peer Device Memory Access".
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class CudaPeer : public TwoDeviceTest {
 protected:
  void SetUp() override {
    TwoDeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    int can = 0;
    ASSERT_SUCCESS(cuda().cudaDeviceCanAccessPeer(&can, 0, 1));
    if (can == 0) {
      GTEST_SKIP() << "the first two devices of this machine have no peer access";
    }
  }
};

TEST_F(CudaPeer, ADeviceIsNotItsOwnPeer) {
  int can = 1;
  EXPECT_SUCCESS(cuda().cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
}

// cudaDeviceEnablePeerAccess: an error if the access is on already.
TEST_F(CudaPeer, EnablingTwiceIsAnError) {
  EXPECT_SUCCESS(cuda().cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_CUDA(cudaErrorPeerAccessAlreadyEnabled, cuda().cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_SUCCESS(cuda().cudaDeviceDisablePeerAccess(1));
}

// cudaDeviceDisablePeerAccess: an error if the access is not on.
TEST_F(CudaPeer, DisablingWhatIsOffIsAnError) {
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cuda().cudaDeviceDisablePeerAccess(1));
}

// cudaDeviceEnablePeerAccess: one way only.
TEST_F(CudaPeer, AccessIsOneWay) {
  EXPECT_SUCCESS(cuda().cudaDeviceEnablePeerAccess(1, 0));
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  EXPECT_CUDA(cudaErrorPeerAccessNotEnabled, cuda().cudaDeviceDisablePeerAccess(0));
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  EXPECT_SUCCESS(cuda().cudaDeviceDisablePeerAccess(1));
}

// cudaDeviceEnablePeerAccess: flags are reserved.
TEST_F(CudaPeer, FlagsMustBeZero) {
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaDeviceEnablePeerAccess(1, 1));
}

TEST_F(CudaPeer, UnknownDeviceIsInvalid) {
  EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaDeviceEnablePeerAccess(1000, 0));
}

}  // namespace
}  // namespace anvil::runtime::testing
