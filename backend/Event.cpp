#include "backend/Event.h"

#include <c10/util/Exception.h>

#include "backend/BlockingRegion.h"
#include "backend/Exception.h"
#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil {
namespace events {

cudaEvent_t create(c10::DeviceIndex device, bool timing) {
  const DeviceGuard guard(c10::Device(kDeviceType, device));
  mark_used(device);
  cudaEvent_t event = nullptr;
  const unsigned flags = timing ? cudaEventDefault : cudaEventDisableTiming;
  ANVIL_CHECK(runtime::table().cudaEventCreateWithFlags(&event, flags));
  return event;
}

void record(cudaEvent_t event, Stream stream) {
  const DeviceGuard guard(stream.device());
  ensure_initialized();
  ANVIL_CHECK(runtime::table().cudaEventRecord(event, stream.stream()));
}

void block(cudaEvent_t event, Stream stream) {
  const DeviceGuard guard(stream.device());
  ensure_initialized();
  ANVIL_CHECK(runtime::table().cudaStreamWaitEvent(stream.stream(), event, 0));
}

bool query(cudaEvent_t event) {
  ensure_initialized();
  const cudaError_t code = runtime::table().cudaEventQuery(event);
  if (code == cudaErrorNotReady) {
    runtime::table().cudaGetLastError();
    return false;
  }
  detail::check(code, "cudaEventQuery(event)");
  return true;
}

void synchronize(cudaEvent_t event) {
  ensure_initialized();
  cudaError_t code = cudaSuccess;
  {
    const BlockingRegion region;
    code = runtime::table().cudaEventSynchronize(event);
  }
  detail::check(code, "cudaEventSynchronize(event)");
}

double elapsed_milliseconds(cudaEvent_t begin, cudaEvent_t end) {
  ensure_initialized();
  float milliseconds = 0;
  const cudaError_t code = runtime::table().cudaEventElapsedTime(&milliseconds, begin, end);
  if (code == cudaErrorInvalidResourceHandle || code == cudaErrorNotReady) {
    runtime::ignore(code);
    TORCH_CHECK(code != cudaErrorNotReady,
                "Both events must be completed before calculating elapsed time: synchronize the "
                "later one first.");
    TORCH_CHECK(false,
                "Both events must be recorded, and created with timing (enable_timing=True), "
                "before calculating elapsed time.");
  }
  detail::check(code, "cudaEventElapsedTime(&milliseconds, begin, end)");
  return static_cast<double>(milliseconds);
}

void destroy(cudaEvent_t event) noexcept {
  if (event != nullptr && is_usable()) {
    runtime::ignore(runtime::table().cudaEventDestroy(event));
  }
}

}  // namespace events

void Event::record(Stream stream) {
  if (event_ == nullptr) {
    event_ = events::create(stream.device_index(), timing_);
    device_ = stream.device_index();
  }
  TORCH_CHECK(device_ == stream.device_index(), "an event of anvil:", static_cast<int>(device_),
              " cannot be recorded on a stream of ", stream.device(),
              "; use one event for each device.");
  events::record(event_, stream);
}

void Event::block(Stream stream) const {
  if (event_ != nullptr) {
    events::block(event_, stream);
  }
}

bool Event::query() const { return event_ == nullptr || events::query(event_); }

void Event::synchronize() const {
  if (event_ != nullptr) {
    events::synchronize(event_);
  }
}

double Event::elapsed_milliseconds(const Event& end) const {
  TORCH_CHECK(is_created() && end.is_created(),
              "Both events must be recorded before calculating elapsed time.");
  return events::elapsed_milliseconds(event_, end.event_);
}

}  // namespace anvil
