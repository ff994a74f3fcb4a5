// Events: what stands behind a cudaEvent_t.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "runtime/simulator/stream.h"

namespace anvil::simulator {

class SharedEvent;
struct CapturePoint;

constexpr uint32_t kEventMagic = 0x4576656e;

// Guarded by the engine's lock. Events are reused, never given back.
struct Event {
  uint32_t magic = 0;
  unsigned flags = 0;
  unsigned pending = 0;      // records that are queued
  Device* device = nullptr;  // current when the event was created
  Stream* stream = nullptr;  // of the latest record; null: never recorded
  uint64_t sequence = 0;     // of the latest record
  int64_t time = 0;          // when it completed, ns
  Event* next = nullptr;     // free list
  // With cudaEventInterprocess: has all of the above but device and flags.
  std::shared_ptr<SharedEvent> shared;
  // If the latest record was in a stream that captured.
  std::shared_ptr<CapturePoint> captured;
};

// The event behind a handle, or null.
Event* resolve(cudaEvent_t handle);

cudaEvent_t make_event(Device& device, unsigned flags, std::shared_ptr<SharedEvent> shared);

// Work of kind kRecord was reached: notes the time. Needs the engine's lock.
void complete_record(Event* event, uint64_t sequence);

}  // namespace anvil::simulator
