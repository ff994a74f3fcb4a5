#include "runtime/event.h"

#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::runtime {

void EventRef::record(StreamRef stream) const {
  ANVIL_CUDA_CHECK(table().cudaEventRecord(event_, stream.get()));
}

bool EventRef::query() const {
  const cudaError_t code = table().cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    ignore(code);
    return false;
  }
  check(code, "cudaEventQuery");
  return true;
}

void EventRef::synchronize() const { ANVIL_CUDA_CHECK(table().cudaEventSynchronize(event_)); }

void EventTraits::destroy(cudaEvent_t event) noexcept { ignore(table().cudaEventDestroy(event)); }

namespace {

cudaEvent_t make_event(Timing timing) {
  cudaEvent_t event = nullptr;
  const unsigned flags = timing == Timing::kOn ? cudaEventDefault : cudaEventDisableTiming;
  ANVIL_CUDA_CHECK(table().cudaEventCreateWithFlags(&event, flags));
  return event;
}

}  // namespace

Event::Event(Timing timing) : Handle(make_event(timing)) {}

float elapsed_milliseconds(EventRef start, EventRef end) {
  float milliseconds = 0;
  ANVIL_CUDA_CHECK(table().cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
  return milliseconds;
}

}  // namespace anvil::runtime
