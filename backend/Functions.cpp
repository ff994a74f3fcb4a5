#include "backend/Functions.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "backend/BlockingRegion.h"
#include "backend/Exception.h"
#include "backend/Lifecycle.h"
#include "backend/ThreadState.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil {
namespace {

constinit std::array<std::atomic<bool>, kMaxDevices> used_devices{};

struct DeviceCount {
  c10::DeviceIndex count = 0;
  std::string reason;  // why there is no device
};

DeviceCount ask_device_count() noexcept {
  DeviceCount result;
  try {
    int count = 0;
    ANVIL_CUDA_CHECK(runtime::table().cudaGetDeviceCount(&count));
    result.count = static_cast<c10::DeviceIndex>(std::min<int>(count, kMaxDevices));
    if (count == 0) {
      result.reason = "the driver reports no device";
    }
  } catch (const c10::Error& error) {
    result.reason = error.what_without_backtrace();
  } catch (const std::exception& error) {
    result.reason = error.what();
  }
  return result;
}

const DeviceCount& cached_device_count() noexcept {
  // Never destroyed: threads of autograd may ask while statics end.
  static const DeviceCount* count = new DeviceCount(ask_device_count());
  return *count;
}

// The driver's call; the thread's note changes only if it succeeds.
void switch_device(c10::DeviceIndex device) {
  check_device_index(device);
  mark_used(device);
  ANVIL_CHECK(runtime::table().cudaSetDevice(device));
  detail::thread_state.device = device;
}

}  // namespace

namespace detail {
constinit thread_local ThreadState thread_state;
}  // namespace detail

c10::DeviceIndex device_count() noexcept { return cached_device_count().count; }

c10::DeviceIndex device_count_ensure_non_zero() {
  const DeviceCount& found = cached_device_count();
  TORCH_CHECK(found.count > 0, "No anvil device is available: ", found.reason);
  return found.count;
}

void check_device_index(c10::DeviceIndex device) {
  const int count = device_count_ensure_non_zero();
  TORCH_CHECK(device >= 0 && device < count, "anvil device index ", static_cast<int>(device),
              // torch.device("anvil:200").index is -56.
              device < -1 ? " (torch keeps 8 bits of an index: " : "",
              device < -1 ? std::to_string(device + 256) + " becomes it)" : "",
              " is out of range: this process has ", count,
              count == 1 ? " device (anvil:0)." : " devices (anvil:0 to anvil:",
              count == 1 ? "" : std::to_string(count - 1) + ").");
}

c10::DeviceIndex current_device() { return detail::thread_state.device; }

c10::DeviceIndex device_or_current(c10::DeviceIndex device) {
  if (device == -1) {
    return detail::thread_state.device;
  }
  check_device_index(device);
  return device;
}

void set_device(c10::DeviceIndex device) {
  if (device != detail::thread_state.device || lifecycle() != Lifecycle::kInUse) {
    switch_device(device);
  }
}

c10::DeviceIndex exchange_device(c10::DeviceIndex device) {
  const c10::DeviceIndex before = detail::thread_state.device;
  if (device != before) [[unlikely]] {
    switch_device(device);
  }
  return before;
}

c10::DeviceIndex maybe_exchange_device(c10::DeviceIndex device) {
  return device < 0 ? detail::thread_state.device : exchange_device(device);
}

void unchecked_set_device(c10::DeviceIndex device) noexcept {
  if (device == detail::thread_state.device || device < 0 || !is_usable()) {
    return;
  }
  if (runtime::table().cudaSetDevice(device) == cudaSuccess) {
    detail::thread_state.device = device;
  } else {
    runtime::table().cudaGetLastError();
  }
}

void device_synchronize() { device_synchronize(detail::thread_state.device); }

void device_synchronize(c10::DeviceIndex device) {
  check_device_index(device);
  ensure_initialized();
  const c10::DeviceIndex before = exchange_device(device);
  cudaError_t code = cudaSuccess;
  {
    const BlockingRegion region;
    code = runtime::table().cudaDeviceSynchronize();
  }
  unchecked_set_device(before);
  detail::check(code, "cudaDeviceSynchronize()");
}

bool has_primary_context(c10::DeviceIndex device) noexcept {
  return device >= 0 && device < kMaxDevices &&
         used_devices[device].load(std::memory_order_relaxed);
}

void mark_used(c10::DeviceIndex device) {
  ensure_initialized();
  used_devices[device].store(true, std::memory_order_relaxed);
}

}  // namespace anvil
