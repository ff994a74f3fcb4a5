// Devices of this process: count, current device of a thread, synchronisation.
#pragma once

#include <c10/core/Device.h>

#include "backend/Macros.h"

namespace anvil {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;

// Devices beyond this many are not offered (tables per device are fixed arrays).
inline constexpr c10::DeviceIndex kMaxDevices = 16;

// Number of usable devices; asks the driver once and keeps the answer. 0 where
// no driver answers. Never throws. Does not create a context.
ANVIL_API c10::DeviceIndex device_count() noexcept;

// As device_count(), but throws with the reason where there is no device.
ANVIL_API c10::DeviceIndex device_count_ensure_non_zero();

// The calling thread's current device. A thread_local, not a driver call.
ANVIL_API c10::DeviceIndex current_device();

// Makes `device` current for the calling thread, for the driver too. Throws if
// it is out of range (the message says which indices exist) or if the process
// was forked after the device was initialised.
ANVIL_API void set_device(c10::DeviceIndex device);

// set_device that returns the device that was current.
ANVIL_API c10::DeviceIndex exchange_device(c10::DeviceIndex device);
// As exchange_device; a negative `device` changes nothing.
ANVIL_API c10::DeviceIndex maybe_exchange_device(c10::DeviceIndex device);

// As exchange_device for destructors: drops errors, does nothing where the
// backend is not usable.
ANVIL_API void unchecked_set_device(c10::DeviceIndex device) noexcept;

// Blocks until all work on the current device (or on `device`) is done; raises
// asynchronous errors. Releases the GIL if the caller holds it.
ANVIL_API void device_synchronize();
ANVIL_API void device_synchronize(c10::DeviceIndex device);

// True once the process has used `device`. Never throws, never initialises.
ANVIL_API bool has_primary_context(c10::DeviceIndex device) noexcept;

// Initialises the driver if need be and notes that `device` is in use. Called
// before the first resource is made on a device.
ANVIL_API void mark_used(c10::DeviceIndex device);

// Throws if `device` is not in [0, device_count()).
ANVIL_API void check_device_index(c10::DeviceIndex device);

// `device`, checked; the current device for -1.
ANVIL_API c10::DeviceIndex device_or_current(c10::DeviceIndex device);

}  // namespace anvil
