// Devices: the strong index, the calling thread's current device.
#pragma once

#include "runtime/export.h"

namespace anvil::runtime {

// The ordinal of a device. Not a number by accident: make one with
// DeviceIndex{0}, read it with static_cast<int>.
enum class DeviceIndex : int {};

// 0 where the driver finds no device; other errors throw.
ANVIL_RUNTIME_API int device_count();

// The calling thread's.
ANVIL_RUNTIME_API DeviceIndex current_device();
ANVIL_RUNTIME_API void set_current_device(DeviceIndex device);

// Makes `device` current for the calling thread until the end of the scope.
// The constructor throws if there is no such device; the destructor never does.
class ANVIL_RUNTIME_API DeviceGuard {
 public:
  explicit DeviceGuard(DeviceIndex device);
  explicit DeviceGuard(int device) = delete;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  DeviceIndex before_;
  bool changed_;
};

// Blocks the calling thread until all work of `device` is done; raises its
// asynchronous errors.
ANVIL_RUNTIME_API void synchronize(DeviceIndex device);

// `device` can read and write `peer`'s memory in kernels, once access is on.
ANVIL_RUNTIME_API bool can_access_peer(DeviceIndex device, DeviceIndex peer);
// Turns it on for the process; no error if it is on.
ANVIL_RUNTIME_API void enable_peer_access(DeviceIndex device, DeviceIndex peer);

}  // namespace anvil::runtime
