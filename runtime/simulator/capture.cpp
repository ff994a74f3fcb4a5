#include "runtime/simulator/capture.h"

#include <algorithm>

#include "runtime/simulator/device.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/graph.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {

constinit std::atomic<int> captures{0};

namespace {

constinit uint64_t last_id = 0;  // guarded by the engine's lock

// Guarded by the engine's lock.
std::vector<std::shared_ptr<Capture>>& active() {
  static auto* active = new std::vector<std::shared_ptr<Capture>>;
  return *active;
}

// The legacy stream encompasses the device's blocking streams: if one of them
// captures, the legacy stream cannot be used, and trying to ends the capture.
cudaError_t refuse_legacy(const Stream& legacy) {
  cudaError_t code = cudaSuccess;
  for (const auto& capture : active()) {
    for (const Stream* stream : capture->streams) {
      if (stream->device == legacy.device && stream->blocking()) {
        capture->invalid = true;
        code = cudaErrorStreamCaptureImplicit;
      }
    }
  }
  return code;
}

void take_out(Stream& stream) { delete stream.captured.exchange(nullptr); }

void end(const std::shared_ptr<Capture>& capture) {
  for (Stream* stream : capture->streams) {
    take_out(*stream);
  }
  capture->active = false;
  std::erase(active(), capture);
  captures.store(static_cast<int>(active().size()));
}

// All that the streams of a capture did must be before the end of its origin.
bool joined(const Capture& capture) {
  std::vector<const GraphNode*> reached;
  std::vector<const GraphNode*> open(capture.origin->captured.load()->dependencies.begin(),
                                     capture.origin->captured.load()->dependencies.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (std::find(reached.begin(), reached.end(), node) == reached.end()) {
      reached.push_back(node);
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
  }
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const Stream* stream) {
    const auto& dependencies = stream->captured.load()->dependencies;
    return std::all_of(dependencies.begin(), dependencies.end(), [&](const GraphNode* node) {
      return std::find(reached.begin(), reached.end(), node) != reached.end();
    });
  });
}

}  // namespace

cudaError_t refuse_in_captures(Stream& stream) {
  const std::lock_guard lock(engine_lock());
  if (stream.legacy) {
    return refuse_legacy(stream);
  }
  const CapturePoint* point = stream.captured;
  return point != nullptr && point->capture->invalid ? cudaErrorStreamCaptureInvalidated
                                                     : cudaSuccess;
}

cudaError_t admit(Stream& stream) {
  if (const cudaError_t failed = failure(*stream.device)) {
    return failed;
  }
  return captures.load(std::memory_order_relaxed) == 0 ? cudaSuccess : refuse_in_captures(stream);
}

// A thread of mode Global is held to its own captures and to those of other
// threads that are global, one of mode ThreadLocal to its own, one of mode
// Relaxed to none. Captures that were begun as relaxed hold nobody.
cudaError_t refuse_unsafe_call(const Thread& thread) {
  if (thread.capture_mode == cudaStreamCaptureModeRelaxed) {
    return cudaSuccess;
  }
  const std::lock_guard lock(engine_lock());
  cudaError_t code = cudaSuccess;
  for (const auto& capture : active()) {
    const bool own = capture->thread == &thread;
    const bool holds = own ? capture->mode != cudaStreamCaptureModeRelaxed
                           : capture->mode == cudaStreamCaptureModeGlobal &&
                                 thread.capture_mode == cudaStreamCaptureModeGlobal;
    if (holds) {
      capture->invalid = true;
      code = cudaErrorStreamCaptureUnsupported;
    }
  }
  return code;
}

cudaError_t refuse_query_in_captures(const Stream& stream) {
  const std::lock_guard lock(engine_lock());
  if (stream.legacy) {
    return refuse_legacy(stream);
  }
  const CapturePoint* point = stream.captured;
  if (point == nullptr) {
    return cudaSuccess;
  }
  point->capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_device_query_in_captures(const Device& device) {
  const std::lock_guard lock(engine_lock());
  cudaError_t code = cudaSuccess;
  for (const auto& capture : active()) {
    for (const Stream* stream : capture->streams) {
      if (stream->device == &device) {
        capture->invalid = true;
        code = cudaErrorStreamCaptureUnsupported;
      }
    }
  }
  return code;
}

cudaError_t refuse_event_query_in_captures(const Event& event) {
  const std::lock_guard lock(engine_lock());
  if (event.captured == nullptr) {
    return cudaSuccess;
  }
  event.captured->capture->invalid = true;
  return cudaErrorCapturedEvent;
}

cudaError_t refuse_in_capture(Stream& stream, cudaError_t code) {
  const std::lock_guard lock(engine_lock());
  const CapturePoint* point = stream.captured;
  if (point == nullptr) {
    return cudaSuccess;
  }
  point->capture->invalid = true;
  return code;
}

bool encompasses_capture(const Stream& legacy) {
  for (const auto& capture : active()) {
    for (const Stream* stream : capture->streams) {
      if (stream->device == legacy.device && stream->blocking()) {
        return true;
      }
    }
  }
  return false;
}

void capture_work(Stream& stream, cudaGraphNodeType type, Node* node) {
  CapturePoint& point = *stream.captured;
  point.dependencies = {add_node(*point.capture->graph, type, *stream.device,
                                 WorkTemplate::from(node), point.dependencies)};
}

void capture_record(const Stream& stream, Event& event) {
  event.stream = nullptr;
  event.captured = std::make_shared<CapturePoint>(*stream.captured);
}

cudaError_t capture_wait(Stream& stream, const Event& event) {
  CapturePoint* own = stream.captured;
  const auto fail = [&](cudaError_t code) {
    if (own != nullptr) {
      own->capture->invalid = true;
    }
    return code;
  };
  if (event.captured == nullptr) {
    // A record outside of the capture; one that never was is no dependency.
    return event.stream == nullptr ? cudaSuccess : fail(cudaErrorStreamCaptureIsolation);
  }
  const CapturePoint& other = *event.captured;
  if (!other.capture->active) {
    return fail(cudaErrorCapturedEvent);
  }
  if (other.capture->invalid) {
    return fail(cudaErrorStreamCaptureInvalidated);
  }
  if (own == nullptr) {
    if (stream.legacy) {
      other.capture->invalid = true;
      return cudaErrorStreamCaptureImplicit;
    }
    stream.captured = new CapturePoint(other);
    other.capture->streams.push_back(&stream);
    return cudaSuccess;
  }
  if (own->capture != other.capture) {
    other.capture->invalid = true;
    return fail(cudaErrorStreamCaptureMerge);
  }
  for (GraphNode* node : other.dependencies) {
    if (std::find(own->dependencies.begin(), own->dependencies.end(), node) ==
        own->dependencies.end()) {
      own->dependencies.push_back(node);
    }
  }
  return cudaSuccess;
}

void begin_capture(Stream& stream,
                   Graph* graph,
                   std::vector<GraphNode*> dependencies,
                   cudaStreamCaptureMode mode,
                   const Thread& thread) {
  const bool owns = graph == nullptr;
  auto capture = std::make_shared<Capture>(Capture{
      ++last_id, owns ? make_graph() : graph, owns, mode, &thread, &stream, true, false, {}});
  capture->streams.push_back(&stream);
  stream.captured = new CapturePoint{capture, std::move(dependencies)};
  active().push_back(std::move(capture));
  captures.store(static_cast<int>(active().size()));
}

cudaError_t end_capture(Stream& stream, const Thread& thread, Graph** graph) {
  const CapturePoint* point = stream.captured;
  if (point == nullptr) {
    return cudaErrorIllegalState;
  }
  const std::shared_ptr<Capture> capture = point->capture;
  if (capture->origin != &stream) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->thread != &thread && capture->mode != cudaStreamCaptureModeRelaxed) {
    return cudaErrorStreamCaptureWrongThread;
  }
  const cudaError_t code = capture->invalid    ? cudaErrorStreamCaptureInvalidated
                           : !joined(*capture) ? cudaErrorStreamCaptureUnjoined
                                               : cudaSuccess;
  end(capture);
  if (code == cudaSuccess) {
    *graph = capture->graph;
  } else if (capture->owns_graph) {
    destroy_graph(capture->graph);
  }
  return code;
}

void leave_capture(Stream& stream) {
  if (const CapturePoint* point = stream.captured) {
    const std::shared_ptr<Capture> capture = point->capture;
    capture->invalid = true;
    if (capture->origin == &stream) {
      end(capture);
      if (capture->owns_graph) {
        destroy_graph(capture->graph);
      }
    } else {
      std::erase(capture->streams, &stream);
      take_out(stream);
    }
  }
}

}  // namespace anvil::simulator
