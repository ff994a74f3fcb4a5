#include "runtime/device.h"

#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::runtime {

int device_count() {
  int count = 0;
  const cudaError_t code = table().cudaGetDeviceCount(&count);
  if (code == cudaErrorNoDevice) {
    ignore(code);
    return 0;
  }
  check(code, "cudaGetDeviceCount");
  return count;
}

DeviceIndex current_device() {
  int device = 0;
  ANVIL_CUDA_CHECK(table().cudaGetDevice(&device));
  return DeviceIndex{device};
}

void set_current_device(DeviceIndex device) {
  ANVIL_CUDA_CHECK(table().cudaSetDevice(static_cast<int>(device)));
}

DeviceGuard::DeviceGuard(DeviceIndex device)
    : before_(current_device()), changed_(before_ != device) {
  if (changed_) {
    set_current_device(device);
  }
}

DeviceGuard::~DeviceGuard() {
  if (changed_) {
    ignore(table().cudaSetDevice(static_cast<int>(before_)));
  }
}

void synchronize(DeviceIndex device) {
  const DeviceGuard guard(device);
  ANVIL_CUDA_CHECK(table().cudaDeviceSynchronize());
}

bool can_access_peer(DeviceIndex device, DeviceIndex peer) {
  int can = 0;
  ANVIL_CUDA_CHECK(
      table().cudaDeviceCanAccessPeer(&can, static_cast<int>(device), static_cast<int>(peer)));
  return can != 0;
}

void enable_peer_access(DeviceIndex device, DeviceIndex peer) {
  const DeviceGuard guard(device);
  const cudaError_t code = table().cudaDeviceEnablePeerAccess(static_cast<int>(peer), 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    ignore(code);
    return;
  }
  check(code, "cudaDeviceEnablePeerAccess");
}

}  // namespace anvil::runtime
