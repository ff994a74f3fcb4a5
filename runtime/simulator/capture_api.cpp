// The calls that begin and end a capture, and ask about it.
#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/graph.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

bool is_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

cudaError_t begin(cudaStream_t handle,
                  Graph* graph,
                  std::vector<GraphNode*> dependencies,
                  cudaStreamCaptureMode mode,
                  const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        if (stream == nullptr) {
          return cudaErrorInvalidResourceHandle;
        }
        if (!is_mode(mode)) {
          return cudaErrorInvalidValue;
        }
        if (stream->legacy) {
          return cudaErrorStreamCaptureUnsupported;
        }
        if (const cudaError_t failed = failure(*stream->device)) {
          return failed;
        }
        const std::lock_guard lock(engine_lock());
        if (stream->captured != nullptr) {
          return cudaErrorIllegalState;
        }
        begin_capture(*stream, graph, std::move(dependencies), mode, thread);
        return cudaSuccess;
      },
      function);
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  const CapturePoint* point = stream.captured;
  return point == nullptr          ? cudaStreamCaptureStatusNone
         : point->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
}

// `body(stream)` with the engine's lock. The legacy stream cannot be asked while a
// stream that it encompasses captures; asking does not invalidate.
template <class Body>
cudaError_t ask(cudaStream_t handle, Body&& body, const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        if (stream == nullptr) {
          return cudaErrorInvalidResourceHandle;
        }
        const std::lock_guard lock(engine_lock());
        if (stream->legacy && encompasses_capture(*stream)) {
          return cudaErrorStreamCaptureImplicit;
        }
        return body(*stream);
      },
      function);
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return begin(handle, nullptr, {}, mode);
}

ANVIL_EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle,
                                                       cudaGraph_t graph_handle,
                                                       const cudaGraphNode_t* dependencies,
                                                       const cudaGraphEdgeData*,
                                                       size_t count,
                                                       cudaStreamCaptureMode mode) {
  Graph* graph = resolve(graph_handle);
  std::vector<GraphNode*> found;
  if (graph == nullptr || !find_nodes(*graph, dependencies, count, &found)) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  return begin(handle, graph, std::move(found), mode);
}

ANVIL_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph_handle) {
  return api([&](Thread& thread) {
    Stream* stream = resolve(handle, thread);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (graph_handle == nullptr) {
      return cudaErrorInvalidValue;
    }
    *graph_handle = nullptr;
    const std::lock_guard lock(engine_lock());
    Graph* graph = nullptr;
    const cudaError_t code = end_capture(*stream, thread, &graph);
    *graph_handle = handle_of(graph);
    return code;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                               cudaStreamCaptureStatus* status) {
  return ask(handle, [&](const Stream& stream) {
    if (status == nullptr) {
      return cudaErrorInvalidValue;
    }
    *status = status_of(stream);
    return cudaSuccess;
  });
}

// The list of dependencies is valid until the stream's next operation.
ANVIL_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id,
                                                  cudaGraph_t* graph,
                                                  const cudaGraphNode_t** dependencies,
                                                  const cudaGraphEdgeData** edges,
                                                  size_t* count) {
  return ask(handle, [&](const Stream& stream) {
    if (status == nullptr) {
      return cudaErrorInvalidValue;
    }
    *status = status_of(stream);
    if (*status != cudaStreamCaptureStatusActive) {
      return cudaSuccess;
    }
    const CapturePoint& point = *stream.captured;
    if (id != nullptr) {
      *id = point.capture->id;
    }
    if (graph != nullptr) {
      *graph = handle_of(point.capture->graph);
    }
    if (dependencies != nullptr) {
      *dependencies = reinterpret_cast<const cudaGraphNode_t*>(point.dependencies.data());
    }
    if (edges != nullptr) {
      *edges = nullptr;  // ordinary edges, all of them
    }
    if (count != nullptr) {
      *count = point.dependencies.size();
    }
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* dependencies,
                                                             const cudaGraphEdgeData*,
                                                             size_t count,
                                                             unsigned flags) {
  return ask(handle, [&](Stream& stream) {
    if (flags > cudaStreamSetCaptureDependencies) {
      return cudaErrorInvalidValue;
    }
    const cudaStreamCaptureStatus status = status_of(stream);
    if (status != cudaStreamCaptureStatusActive) {
      return status == cudaStreamCaptureStatusNone ? cudaErrorIllegalState
                                                   : cudaErrorStreamCaptureInvalidated;
    }
    CapturePoint& point = *stream.captured;
    std::vector<GraphNode*> found;
    if (flags == cudaStreamAddCaptureDependencies) {
      found = point.dependencies;
    }
    if (!find_nodes(*point.capture->graph, dependencies, count, &found)) {
      return cudaErrorInvalidValue;
    }
    point.dependencies = std::move(found);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api([&](Thread& thread) {
    if (mode == nullptr || !is_mode(*mode)) {
      return cudaErrorInvalidValue;
    }
    std::swap(*mode, thread.capture_mode);
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
