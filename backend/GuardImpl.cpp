#include "backend/GuardImpl.h"

#include <c10/core/DeviceCapability.h>
#include <c10/util/Exception.h>

#include "backend/CachingAllocator.h"
#include "backend/Event.h"
#include "backend/Stream.h"
#include "backend/ThreadState.h"

namespace anvil {
namespace {

cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

// Every dtype of which a tensor can be made and copied: all but the quantized
// and sub-byte integer ones, which no kernel of ours reads.
constexpr uint64_t supported_scalar_types() {
  uint64_t bits = 0;
  for (const auto type : {c10::kIndex_Byte,
                          c10::kIndex_Char,
                          c10::kIndex_Short,
                          c10::kIndex_Int,
                          c10::kIndex_Long,
                          c10::kIndex_Half,
                          c10::kIndex_Float,
                          c10::kIndex_Double,
                          c10::kIndex_ComplexHalf,
                          c10::kIndex_ComplexFloat,
                          c10::kIndex_ComplexDouble,
                          c10::kIndex_Bool,
                          c10::kIndex_BFloat16,
                          c10::kIndex_Float8_e5m2,
                          c10::kIndex_Float8_e4m3fn,
                          c10::kIndex_Float8_e5m2fnuz,
                          c10::kIndex_Float8_e4m3fnuz,
                          c10::kIndex_UInt16,
                          c10::kIndex_UInt32,
                          c10::kIndex_UInt64}) {
    bits |= uint64_t{1} << type;
  }
  return bits;
}

}  // namespace

GuardImpl::GuardImpl(c10::DeviceType type) {
  TORCH_CHECK(type == kDeviceType, "expected device type ", kDeviceType, ", but got ", type);
}

c10::Device GuardImpl::exchangeDevice(c10::Device device) const {
  TORCH_CHECK(device.type() == kDeviceType, "expected a device of ", kDeviceType, ", but got ",
              device);
  const c10::DeviceIndex before = detail::thread_state.device;
  if (device.index() != before) [[unlikely]] {
    exchange_device(device.index());
  }
  return {kDeviceType, before};
}

c10::Device GuardImpl::getDevice() const { return {kDeviceType, detail::thread_state.device}; }

void GuardImpl::setDevice(c10::Device device) const {
  TORCH_CHECK(device.type() == kDeviceType, "expected a device of ", kDeviceType, ", but got ",
              device);
  set_device(device.index());
}

void GuardImpl::uncheckedSetDevice(c10::Device device) const noexcept {
  if (device.index() != detail::thread_state.device) [[unlikely]] {
    unchecked_set_device(device.index());
  }
}

c10::DeviceIndex GuardImpl::deviceCount() const noexcept { return device_count(); }

c10::DeviceCapability GuardImpl::getDeviceCapability(c10::Device /*device*/) const {
  c10::DeviceCapability capability;
  capability.capability_data.capability_bits = supported_scalar_types();
  return capability;
}

void GuardImpl::synchronizeDevice(c10::DeviceIndex device) const {
  device_synchronize(device_or_current(device));
}

c10::Stream GuardImpl::getStream(c10::Device device) const {
  return getCurrentStream(device.index());
}

c10::Stream GuardImpl::getDefaultStream(c10::Device device) const {
  return anvil::getDefaultStream(device.index());
}

c10::Stream GuardImpl::getStreamFromGlobalPool(c10::Device device, bool high_priority) const {
  return getStreamFromPool(high_priority, device.index());
}

c10::Stream GuardImpl::getNewStream(c10::Device device, int priority) const {
  return getStreamFromPool(priority, device.index());
}

c10::Stream GuardImpl::exchangeStream(c10::Stream stream) const {
  const Stream next(stream);
  const Stream before = getCurrentStream(next.device_index());
  setCurrentStream(next);
  return before;
}

void* GuardImpl::getStreamNativeHandle(c10::Stream stream) const { return Stream(stream).stream(); }

bool GuardImpl::queryStream(const c10::Stream& stream) const { return Stream(stream).query(); }

void GuardImpl::synchronizeStream(const c10::Stream& stream) const { Stream(stream).synchronize(); }

bool GuardImpl::isStreamCapturing(const c10::Stream& stream) const {
  return Stream(stream).is_capturing();
}

void GuardImpl::record(void** event,
                       const c10::Stream& stream,
                       c10::DeviceIndex device,
                       c10::EventFlag flag) const {
  const Stream recording(stream);
  TORCH_CHECK(device == -1 || device == recording.device_index(),
              "an event of anvil:", static_cast<int>(device), " cannot be recorded on a stream of ",
              recording.device(), "; use one event for each device.");
  TORCH_CHECK(flag != c10::EventFlag::INVALID, "the event was made with an invalid flag");
  if (*event == nullptr) {
    *event = events::create(recording.device_index(), flag == c10::EventFlag::BACKEND_DEFAULT);
  }
  events::record(as_event(*event), recording);
}

void GuardImpl::block(void* event, const c10::Stream& stream) const {
  if (event != nullptr) {
    events::block(as_event(event), Stream(stream));
  }
}

bool GuardImpl::queryEvent(void* event) const {
  return event == nullptr || events::query(as_event(event));
}

void GuardImpl::synchronizeEvent(void* event) const {
  if (event != nullptr) {
    events::synchronize(as_event(event));
  }
}

double GuardImpl::elapsedTime(void* begin, void* end, c10::DeviceIndex /*device*/) const {
  TORCH_CHECK(begin != nullptr && end != nullptr,
              "Both events must be recorded before calculating elapsed time.");
  return events::elapsed_milliseconds(as_event(begin), as_event(end));
}

void GuardImpl::destroyEvent(void* event, c10::DeviceIndex /*device*/) const noexcept {
  events::destroy(as_event(event));
}

void GuardImpl::recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const {
  getDeviceAllocator()->recordStream(data, stream);
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, GuardImpl)

}  // namespace anvil
