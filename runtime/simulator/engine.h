// The engine: stream queues, and the worker threads that serve them.
//
// One lock guards all queues. Enqueueing takes it once, takes a pooled node,
// and wakes a worker only if one sleeps that is needed.
//
// Order: work of a stream runs in the order it was enqueued. The legacy stream
// of a device and its blocking streams are ordered by tickets: a head runs only
// if no work with an earlier ticket is left on the other side. All else is free,
// and an adversarial schedule (ANVIL_SIMULATOR_SCHEDULE) makes use of that.
#pragma once

#include <cstdint>
#include <mutex>

#include "runtime/simulator/node.h"
#include "runtime/simulator/stream.h"

namespace anvil::simulator {

void make_engine();

// Guards streams, events and devices' queues.
std::mutex& engine_lock();

// A piece of work on its way into a stream. Kernels, copies and fills wait for
// room in a full queue, unless a host function runs: it may wait for the caller,
// or for the GIL that the caller holds. The lock is held from construction
// to `commit` (or destruction, which drops the work): fill in the node at once.
class Submission {
 public:
  Submission(Stream& stream, Work work, size_t payload_bytes = 0);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  Node* operator->() { return node_; }
  Stream& stream() { return stream_; }
  // The number that the work will have in its stream.
  uint64_t sequence() const { return stream_.enqueued + 1; }

  // Enqueues; in inline mode, runs it before returning. If the stream captures,
  // puts it into the graph instead.
  void commit();

 private:
  Stream& stream_;
  std::unique_lock<std::mutex> lock_;
  Node* node_;
};

// Work number `sequence` of `stream` has completed.
inline bool done(const Stream& stream, uint64_t sequence) {
  return stream.completed.load(std::memory_order_acquire) >= sequence;
}

// Block the calling thread. Return at once after the end of the process began.
void wait(Stream& stream, uint64_t sequence);
void wait_for_stream(Stream& stream);  // the legacy stream: and all that it orders
void wait_for_device(const Device& device);
void wait_for_all_devices();

// Nothing is left to do in the stream (the legacy stream: as above).
bool idle(const Stream& stream);

// The process is ending and queued work does not run any more: whoever polls is
// to be told that it is done.
bool stopped();

// Streams of a device, in any state.
Stream* make_stream(Device& device, unsigned flags, int priority);
void destroy_stream(Stream* stream);

// As on CUDA, a launch waits for room in a stream that has this much to do.
constexpr uint64_t kLongestQueue = 1024;

// anvilSimulatorDrain: drops all later work, and gives what is queued ten
// seconds to run; what has not started then is dropped too, with a report.
void drain();

}  // namespace anvil::simulator
