// Events: points in a stream that others wait for.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <utility>

#include "backend/Macros.h"
#include "backend/Stream.h"

namespace anvil {

// The driver's calls on event handles, for Event and for torch's guard. All
// make the event's device current for the call and put it back.
namespace events {
ANVIL_API cudaEvent_t create(c10::DeviceIndex device, bool timing);
ANVIL_API void record(cudaEvent_t event, Stream stream);
ANVIL_API void block(cudaEvent_t event, Stream stream);
ANVIL_API bool query(cudaEvent_t event);        // false: work before it is not done
ANVIL_API void synchronize(cudaEvent_t event);  // blocks; releases the GIL
ANVIL_API double elapsed_milliseconds(cudaEvent_t begin, cudaEvent_t end);
// In any state of event and process; never throws. Null is allowed.
ANVIL_API void destroy(cudaEvent_t event) noexcept;
}  // namespace events

// Owner of an event; move-only. The driver's event is made by the first
// record(), on the recording stream's device, and stays on it. Until then
// query() is true, and synchronize() and block() do nothing, as in CUDA.
class ANVIL_API Event {
 public:
  // `timing`: elapsed_milliseconds() works; recording costs more.
  explicit Event(bool timing = false) : timing_(timing) {}
  ~Event() { events::destroy(event_); }
  Event(Event&& other) noexcept { swap(other); }
  Event& operator=(Event&& other) noexcept {
    swap(other);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Throws if the event was made on another device than the stream's.
  void record(Stream stream);
  void block(Stream stream) const;
  bool query() const;
  void synchronize() const;
  // From this event to `end`; both have timing and are complete, else throws.
  double elapsed_milliseconds(const Event& end) const;

  bool is_created() const { return event_ != nullptr; }
  c10::DeviceIndex device_index() const { return device_; }  // -1: not created
  cudaEvent_t event() const { return event_; }

 private:
  void swap(Event& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(device_, other.device_);
    std::swap(timing_, other.timing_);
  }

  cudaEvent_t event_ = nullptr;
  c10::DeviceIndex device_ = -1;
  bool timing_ = false;
};

}  // namespace anvil
