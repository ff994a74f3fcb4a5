// Stream capture (CUDA C++ Programming Guide, "Creating a Graph Using Stream
// Capture"): while a stream captures, its work goes into a graph instead of a
// queue, and what would look at or wait for that work is an error that
// invalidates the capture.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/simulator/stream.h"

namespace anvil::simulator {

struct Device;
struct Event;
struct Graph;
struct GraphNode;
struct Thread;

// Guarded by the engine's lock.
struct Capture {
  uint64_t id;
  Graph* graph;
  bool owns_graph;  // false if the caller gave one
  cudaStreamCaptureMode mode;
  const Thread* thread;  // that began it
  Stream* origin;
  bool active = true;
  bool invalid = false;
  std::vector<Stream*> streams;  // that take part
};

// A capture and the work in it that what comes next depends on: of a stream that
// takes part, or of an event that was recorded in one.
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> dependencies;
};

// The number of captures that are going on: most programs have none.
extern std::atomic<int> captures;

inline bool capturing(const Stream& stream) { return stream.captured.load() != nullptr; }

inline bool any_capture() { return captures.load(std::memory_order_relaxed) > 0; }

// What an operation on a stream asks first: the failure of its device, or why a
// capture does not allow the operation.
cudaError_t admit(Stream& stream);

// The questions below cost nothing while there is no capture. An answer that is
// an error has made the captures invalid that it is about.
cudaError_t refuse_unsafe_call(const Thread& thread);
cudaError_t refuse_query_in_captures(const Stream& stream);
cudaError_t refuse_device_query_in_captures(const Device& device);
cudaError_t refuse_event_query_in_captures(const Event& event);
cudaError_t refuse_in_capture(Stream& stream, cudaError_t code);

// Before a call that CUDA names potentially unsafe during a capture
// (cudaThreadExchangeStreamCaptureMode).
inline cudaError_t admit_unsafe(const Thread& thread) {
  return any_capture() ? refuse_unsafe_call(thread) : cudaSuccess;
}

// Before a call that waits for a stream, a device or an event, or queries it.
inline cudaError_t admit_query(const Stream& stream, const Thread& thread) {
  const cudaError_t code = any_capture() ? refuse_query_in_captures(stream) : cudaSuccess;
  return code != cudaSuccess ? code : admit_unsafe(thread);
}
inline cudaError_t admit_query(const Device& device, const Thread& thread) {
  const cudaError_t code = any_capture() ? refuse_device_query_in_captures(device) : cudaSuccess;
  return code != cudaSuccess ? code : admit_unsafe(thread);
}
inline cudaError_t admit_query(const Event& event, const Thread& thread) {
  const cudaError_t code = refuse_event_query_in_captures(event);
  return code != cudaSuccess ? code : admit_unsafe(thread);
}

// Before work that no graph can hold.
inline cudaError_t admit_outside_capture(Stream& stream) {
  return any_capture() ? refuse_in_capture(stream, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

// Below: with the engine's lock.

// A stream that the legacy stream encompasses captures. Makes nothing invalid.
bool encompasses_capture(const Stream& legacy);

// Puts work into the graph of the capture that the stream takes part in. `node`
// stays the caller's; null for a node that does nothing.
void capture_work(Stream& stream, cudaGraphNodeType type, Node* node);

// cudaEventRecord in a stream that captures.
void capture_record(const Stream& stream, Event& event);

// cudaStreamWaitEvent where the stream captures or the event was recorded in a
// capture.
cudaError_t capture_wait(Stream& stream, const Event& event);

// A null graph is made, and given away by end_capture.
void begin_capture(Stream& stream,
                   Graph* graph,
                   std::vector<GraphNode*> dependencies,
                   cudaStreamCaptureMode mode,
                   const Thread& thread);
cudaError_t end_capture(Stream& stream, const Thread& thread, Graph** graph);

// The stream is destroyed.
void leave_capture(Stream& stream);

}  // namespace anvil::simulator
