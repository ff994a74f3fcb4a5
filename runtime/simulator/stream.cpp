#include "runtime/simulator/stream.h"

#include <algorithm>
#include <memory>

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
  return with_stream(handle, [](Stream& stream, Thread&) {
    if (const cudaError_t failed = failure(*stream.device)) {
      return failed;
    }
    return idle(stream) ? failure(*stream.device) : cudaErrorNotReady;
  });
}

ANVIL_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream, Thread&) {
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

// Capture cannot be begun on the simulator, so no stream is ever capturing.
ANVIL_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                               cudaStreamCaptureStatus* status) {
  return with_stream(handle, [&](Stream&, Thread&) {
    if (status == nullptr) {
      return cudaErrorInvalidValue;
    }
    *status = cudaStreamCaptureStatusNone;
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
    if (const cudaError_t failed = failure(*stream.device)) {
      return failed;
    }
    if (event->shared != nullptr) {
      event->shared->wait(stream);
      return cudaSuccess;
    }
    Submission work(stream, Work::kWait);
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
    if (const cudaError_t failed = failure(*stream.device)) {
      return failed;
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
  if (function == nullptr || flags != 0) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  auto callback = std::make_unique<Callback>(function, handle, data);
  const cudaError_t code = cudaLaunchHostFunc(handle, call_back, callback.get());
  if (code == cudaSuccess) {
    callback.release();
  }
  return code;
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
