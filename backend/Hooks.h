// torch's generic questions to an accelerator.
#pragma once

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "backend/Macros.h"

namespace anvil {

// Every virtual of the installed torch. isBuilt, isAvailable, hasPrimaryContext
// and isPinnedPtr never throw and never initialise the driver.
struct ANVIL_API Hooks final : public at::PrivateUse1HooksInterface {
  void init() const override;
  bool isBuilt() const override { return true; }
  bool isAvailable() const override;
  bool hasPrimaryContext(c10::DeviceIndex device) const override;

  c10::DeviceIndex deviceCount() const override;
  void setCurrentDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex getCurrentDevice() const override;
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override;
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override;

  bool isPinnedPtr(const void* data) const override;
  c10::Allocator* getPinnedMemoryAllocator() const override;
  // Of device memory; throws for any other pointer.
  c10::Device getDeviceFromPtr(void* data) const override;

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device = -1) const override;
  at::Generator getNewGenerator(c10::DeviceIndex device = -1) const override;

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override;
};

}  // namespace anvil
