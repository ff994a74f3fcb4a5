#include "backend/Hooks.h"

#include <c10/util/Exception.h>

#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/Generator.h"
#include "backend/HostAllocator.h"
#include "backend/Lifecycle.h"
#include "backend/Resize.h"
#include "runtime/table.h"

namespace anvil {

void Hooks::init() const { ensure_initialized(); }

bool Hooks::isAvailable() const { return device_count() > 0; }

bool Hooks::hasPrimaryContext(c10::DeviceIndex device) const {
  return is_usable() && has_primary_context(device);
}

c10::DeviceIndex Hooks::deviceCount() const { return device_count(); }

void Hooks::setCurrentDevice(c10::DeviceIndex device) const { set_device(device); }

c10::DeviceIndex Hooks::getCurrentDevice() const { return current_device(); }

c10::DeviceIndex Hooks::exchangeDevice(c10::DeviceIndex device) const {
  return exchange_device(device);
}

c10::DeviceIndex Hooks::maybeExchangeDevice(c10::DeviceIndex device) const {
  return maybe_exchange_device(device);
}

bool Hooks::isPinnedPtr(const void* data) const { return is_pinned(data); }

c10::Allocator* Hooks::getPinnedMemoryAllocator() const { return getHostAllocator(); }

c10::Device Hooks::getDeviceFromPtr(void* data) const {
  ensure_initialized();
  cudaPointerAttributes attributes{};
  ANVIL_CHECK(runtime::table().cudaPointerGetAttributes(&attributes, data));
  TORCH_CHECK(attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged,
              "the pointer ", data,
              " is not in the memory of an anvil device; only pointers that "
              "the device's allocator or cudaMalloc returned have a device.");
  return {kDeviceType, static_cast<c10::DeviceIndex>(attributes.device)};
}

const at::Generator& Hooks::getDefaultGenerator(c10::DeviceIndex device) const {
  return anvil::getDefaultGenerator(device);
}

at::Generator Hooks::getNewGenerator(c10::DeviceIndex device) const {
  return createGenerator(device);
}

void Hooks::resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const {
  resize_bytes(storage.unsafeGetStorageImpl(), bytes);
}

namespace {
// Registered at load, without touching the driver; owned by torch.
[[maybe_unused]] const bool hooks_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();
}  // namespace

}  // namespace anvil
