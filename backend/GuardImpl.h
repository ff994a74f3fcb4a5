// torch's view of devices, streams and events of PrivateUse1.
#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/InlineDeviceGuard.h>
#include <c10/core/impl/InlineStreamGuard.h>

#include "backend/Functions.h"
#include "backend/Macros.h"
#include "backend/TorchVersion.h"

namespace anvil {

// Every virtual of the installed torch (backend/TorchVersion.h says which are
// not in the oldest). Events are void* that hold a cudaEvent_t. Functions that
// are noexcept drop errors; those that wait release the GIL.
struct ANVIL_API GuardImpl final : public c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = kDeviceType;

  GuardImpl() = default;
  // For InlineDeviceGuard.
  explicit GuardImpl(c10::DeviceType type);

  c10::DeviceType type() const override { return kDeviceType; }

  c10::Device exchangeDevice(c10::Device device) const override;
  c10::Device getDevice() const override;
  void setDevice(c10::Device device) const override;
  void uncheckedSetDevice(c10::Device device) const noexcept override;
  c10::DeviceIndex deviceCount() const noexcept override;
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override;
  void synchronizeDevice(c10::DeviceIndex device) const override;

  c10::Stream getStream(c10::Device device) const override;
  c10::Stream getDefaultStream(c10::Device device) const override;
  c10::Stream getStreamFromGlobalPool(c10::Device device,
                                      bool high_priority = false) const override;
  c10::Stream getNewStream(c10::Device device, int priority = 0) const override;
  c10::Stream exchangeStream(c10::Stream stream) const override;
  void* getStreamNativeHandle(c10::Stream stream) const override;
  bool queryStream(const c10::Stream& stream) const override;
  void synchronizeStream(const c10::Stream& stream) const override;
  bool isStreamCapturing(const c10::Stream& stream) const ANVIL_OVERRIDE_IS_STREAM_CAPTURING;

  // Creates *event on the stream's device if it is null.
  void record(void** event,
              const c10::Stream& stream,
              c10::DeviceIndex device,
              c10::EventFlag flag) const override;
  void block(void* event, const c10::Stream& stream) const override;
  bool queryEvent(void* event) const override;
  void synchronizeEvent(void* event) const override;
  double elapsedTime(void* begin, void* end, c10::DeviceIndex device) const override;
  void destroyEvent(void* event, c10::DeviceIndex device) const noexcept override;

  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override;
};

// Guards whose calls do not go through the virtual table.
using DeviceGuard = c10::impl::InlineDeviceGuard<GuardImpl>;
using OptionalDeviceGuard = c10::impl::InlineOptionalDeviceGuard<GuardImpl>;
using StreamGuard = c10::impl::InlineStreamGuard<GuardImpl>;

}  // namespace anvil
