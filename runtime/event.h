// Events: the owner and the reference.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/export.h"
#include "runtime/handle.h"
#include "runtime/stream.h"

namespace anvil::runtime {

// An event that someone else keeps alive. A value type.
class ANVIL_RUNTIME_API EventRef {
 public:
  EventRef(cudaEvent_t event) : event_(event) {}
  EventRef(int) = delete;
  EventRef(std::nullptr_t) = delete;

  cudaEvent_t get() const { return event_; }

  // The event stands for all work that `stream` has now, and no longer for what
  // it stood for before. `stream` must be of the event's device.
  void record(StreamRef stream) const;
  // True if the work of the latest record is done, or there was no record.
  // Raises the device's asynchronous errors.
  bool query() const;
  // Blocks the calling thread until `query` is true.
  void synchronize() const;

 private:
  cudaEvent_t event_;
};

enum class Timing { kOff, kOn };

struct EventTraits {
  using value_type = cudaEvent_t;
  ANVIL_RUNTIME_API static void destroy(cudaEvent_t event) noexcept;
};

// Owns an event of the device that was current when it was made. Move-only.
class ANVIL_RUNTIME_API Event : public Handle<EventTraits> {
 public:
  explicit Event(Timing timing = Timing::kOff);

  operator EventRef() const { return EventRef(get()); }
  void record(StreamRef stream) const { EventRef(get()).record(stream); }
  bool query() const { return EventRef(get()).query(); }
  void synchronize() const { EventRef(get()).synchronize(); }
};

// Milliseconds from one recorded, completed event to another; both must be of
// one device and have timing.
ANVIL_RUNTIME_API float elapsed_milliseconds(EventRef start, EventRef end);

}  // namespace anvil::runtime
