// Streams: what stands behind a cudaStream_t.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "runtime/simulator/node.h"

namespace anvil::simulator {

struct CapturePoint;
struct Device;
struct Thread;

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;  // as on the profiled GPUs

enum class StreamState : uint8_t {
  kIdle,     // the queue is empty
  kReady,    // the head can run; in a ready list
  kRunning,  // a worker runs the head
  kWaiting,  // the head waits for another stream; in that one's list of waiters
  kGated,    // the head waits for the legacy stream's order; in the device's list
};

// Streams are never given back to the heap: a destroyed one is reused with its
// sequence going on, so that "stream S has completed work N" stays a valid
// question. All but the atomics is guarded by the engine's lock.
struct Stream {
  uint32_t magic = 0;
  unsigned flags = 0;
  int priority = 0;
  StreamState state = StreamState::kIdle;
  bool legacy = false;
  Device* device = nullptr;
  Node* head = nullptr;  // stays until it has completed
  Node* tail = nullptr;
  uint64_t enqueued = 0;
  std::atomic<uint64_t> completed{0};
  Stream* link = nullptr;     // the next in the one list that this stream is in
  Stream* waiters = nullptr;  // streams whose head waits for this one
  Stream* next = nullptr;     // in the list of all streams of the process
  uint64_t held_until = 0;    // adversarial schedule: not run before, ns
  // Null but while the stream takes part in a capture (capture.h).
  std::atomic<CapturePoint*> captured{nullptr};

  // Ordered with the legacy stream.
  bool blocking() const { return !legacy && (flags & cudaStreamNonBlocking) == 0; }
};

constexpr uint32_t kStreamMagic = 0x53747265;

// The stream behind a handle: null and cudaStreamLegacy are the current
// device's legacy stream. Null if the handle is not a live stream's.
Stream* resolve(cudaStream_t handle, const Thread& thread);

}  // namespace anvil::simulator
