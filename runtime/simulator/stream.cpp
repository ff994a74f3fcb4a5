#include "runtime/simulator/stream.h"

#include <algorithm>
#include <memory>

#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"
#include "runtime/simulator/shared_event.h"

namespace anvil::simulator {

Stream* resolve(cudaStream_t handle, const Thread& thread) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &use_device(thread.device).legacy;
  }
  if (handle == cudaStreamPerThread) {
    report("cudaStreamPerThread is not supported (docs/simulator.md)");
    return nullptr;
  }
  Stream* stream = reinterpret_cast<Stream*>(handle);
  return stream->magic == kStreamMagic ? stream : nullptr;
}

namespace {

// Runs `body(stream, thread)`; errors of the stream's device come after it.
template <class Body>
cudaError_t with_stream(cudaStream_t handle,
                        Body&& body,
                        const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        return stream != nullptr ? body(*stream, thread) : cudaErrorInvalidResourceHandle;
      },
      function);
}

cudaError_t create_stream(cudaStream_t* handle,
                          unsigned flags,
                          int priority,
                          const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        if (handle == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
          return cudaErrorInvalidValue;
        }
        Device& own = use_device(thread.device);
        if (const cudaError_t failed = failure(own)) {
          return failed;
        }
        priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
        *handle = reinterpret_cast<cudaStream_t>(make_stream(own, flags, priority));
        return cudaSuccess;
      },
      function);
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle,
                                                      unsigned flags,
                                                      int priority) {
  return create_stream(handle, flags, priority);
}

ANVIL_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  return create_stream(handle, flags, kLeastPriority);
}

ANVIL_EXPORT cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  return create_stream(handle, cudaStreamDefault, kLeastPriority);
}

// Returns at once; what is queued still runs.
ANVIL_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (stream.legacy) {
      return cudaErrorInvalidResourceHandle;
    }
    destroy_stream(&stream);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream, Thread& thread) {
    if (const cudaError_t failed = failure(*stream.device)) {
      return failed;
    }
    if (const cudaError_t refused = admit_query(stream, thread)) {
      return refused;
    }
    return idle(stream) ? failure(*stream.device) : cudaErrorNotReady;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream, Thread& thread) {
    if (const cudaError_t refused = admit_query(stream, thread)) {
      return refused;
    }
    wait_for_stream(stream);
    return failure(*stream.device);
  });
}

ANVIL_EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (priority == nullptr) {
      return cudaErrorInvalidValue;
    }
    *priority = stream.priority;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (flags == nullptr) {
      return cudaErrorInvalidValue;
    }
    *flags = stream.flags;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* index) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (index == nullptr) {
      return cudaErrorInvalidValue;
    }
    *index = stream.device->index;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t handle,
                                             cudaEvent_t event_handle,
                                             unsigned flags) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    Event* event = resolve(event_handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if ((flags & ~unsigned{cudaEventWaitExternal}) != 0) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t refused = admit(stream)) {
      return refused;
    }
    const bool external = (flags & cudaEventWaitExternal) != 0;
    if (event->shared != nullptr || external) {
      if (const cudaError_t refused = admit_outside_capture(stream)) {
        return refused;
      }
    }
    if (event->shared != nullptr) {
      event->shared->wait(stream);
      return cudaSuccess;
    }
    Submission work(stream, Work::kWait);
    if (capturing(stream) || event->captured != nullptr) {
      return capture_wait(stream, *event);
    }
    // The record that counts is the latest one at the time of this call.
    if (event->stream == nullptr || event->stream == &stream ||
        done(*event->stream, event->sequence)) {
      return cudaSuccess;
    }
    work->wait = {event->stream, event->sequence};
    work.commit();
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t handle,
                                            cudaHostFn_t function,
                                            void* data) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (function == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t refused = admit(stream)) {
      return refused;
    }
    Submission work(stream, Work::kHostFunction);
    work->host = {function, data};
    work.commit();
    return cudaSuccess;
  });
}

namespace {

struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

void call_back(void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(callback->stream, cudaSuccess, callback->data);
}

}  // namespace

// Runs as a host function does; the status is that of a healthy device, as
// nothing is called back after a failure.
ANVIL_EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t handle,
                                               cudaStreamCallback_t function,
                                               void* data,
                                               unsigned flags) {
  return with_stream(handle, [&](Stream& stream, Thread&) {
    if (function == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t refused = admit(stream)) {
      return refused;
    }
    if (const cudaError_t refused = admit_outside_capture(stream)) {
      return refused;
    }
    Submission work(stream, Work::kHostFunction);
    work->host = {call_back, new Callback{function, handle, data}};
    work.commit();
    return cudaSuccess;
  });
}

// There is no profiler to start.
ANVIL_EXPORT cudaError_t cudaProfilerStart() {
  return api([](Thread&) { return cudaSuccess; });
}
ANVIL_EXPORT cudaError_t cudaProfilerStop() {
  return api([](Thread&) { return cudaSuccess; });
}

ANVIL_EXPORT int anvilSimulatorInsideStream() { return current_thread.inside_stream; }

ANVIL_EXPORT void anvilSimulatorDrain() {
  if (phase.load(std::memory_order_acquire) == Phase::kReady && !current_thread.inside_stream) {
    drain();
  }
}

}  // namespace anvil::simulator
