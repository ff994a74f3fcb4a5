#include "runtime/simulator/event.h"

#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/shared_event.h"

namespace anvil::simulator {
namespace {

constinit Event* reusable = nullptr;  // guarded by the engine's lock

void reuse(Event* event) {
  event->next = reusable;
  reusable = event;
}

// The latest record, as of now.
struct Record {
  Stream* stream;
  uint64_t sequence;
};

Record latest(const Event& event) {
  const std::lock_guard lock(engine_lock());
  return {event.stream, event.sequence};
}

bool complete(const Record& record) {
  return record.stream == nullptr || done(*record.stream, record.sequence);
}

}  // namespace

Event* resolve(cudaEvent_t handle) {
  Event* event = reinterpret_cast<Event*>(handle);
  return event != nullptr && event->magic == kEventMagic ? event : nullptr;
}

cudaEvent_t make_event(Device& device, unsigned flags, std::shared_ptr<SharedEvent> shared) {
  const std::lock_guard lock(engine_lock());
  Event* event = reusable;
  if (event != nullptr) {
    reusable = event->next;
    *event = Event{};
  } else {
    event = new Event;
  }
  event->device = &device;
  event->flags = flags;
  event->shared = std::move(shared);
  event->magic = kEventMagic;
  return reinterpret_cast<cudaEvent_t>(event);
}

void complete_record(Event* event, uint64_t sequence) {
  if (event->sequence == sequence && (event->flags & cudaEventDisableTiming) == 0) {
    event->time = static_cast<int64_t>(now());
  }
  if (--event->pending == 0 && event->magic != kEventMagic) {
    reuse(event);
  }
}

ANVIL_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  return api([&](Thread& thread) {
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
    if (handle == nullptr || (flags & ~(kKnown | cudaEventInterprocess)) != 0) {
      return cudaErrorInvalidValue;
    }
    const bool interprocess = (flags & cudaEventInterprocess) != 0;
    if (interprocess && (flags & cudaEventDisableTiming) == 0) {
      return cudaErrorInvalidValue;
    }
    Device& own = use_device(thread.device);
    if (const cudaError_t failed = failure(own)) {
      return failed;
    }
    std::shared_ptr<SharedEvent> shared = interprocess ? SharedEvent::make() : nullptr;
    if (interprocess && shared == nullptr) {
      return cudaErrorOperatingSystem;
    }
    *handle = make_event(own, flags, std::move(shared));
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}

namespace {

cudaError_t record(cudaEvent_t handle,
                   cudaStream_t stream_handle,
                   unsigned flags,
                   const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) {
          return cudaErrorInvalidValue;
        }
        Event* event = resolve(handle);
        Stream* stream = resolve(stream_handle, thread);
        if (event == nullptr || stream == nullptr || event->device != stream->device) {
          return cudaErrorInvalidResourceHandle;
        }
        if (const cudaError_t refused = admit(*stream)) {
          return refused;
        }
        if (event->shared != nullptr) {
          if (const cudaError_t refused = admit_outside_capture(*stream)) {
            return refused;
          }
          event->shared->record(*stream);
          return cudaSuccess;
        }
        Submission work(*stream, Work::kRecord);
        work->record = {event};
        if (capturing(*stream)) {
          if (flags == cudaEventRecordExternal) {
            work.commit();  // recorded when the graph runs
          } else {
            capture_record(*stream, *event);
          }
          return cudaSuccess;
        }
        event->captured.reset();
        event->stream = stream;
        event->sequence = work.sequence();
        ++event->pending;
        work.commit();
        return cudaSuccess;
      },
      function);
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  return record(handle, stream, cudaEventRecordDefault);
}

// With cudaEventRecordExternal a capture gets a node that records the event.
ANVIL_EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle,
                                                  cudaStream_t stream,
                                                  unsigned flags) {
  return record(handle, stream, flags);
}

// An event that was never recorded counts as complete.
ANVIL_EXPORT cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api([&](Thread& thread) {
    Event* event = resolve(handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t failed = failure(*event->device)) {
      return failed;
    }
    if (const cudaError_t refused = admit_query(*event, thread)) {
      return refused;
    }
    if (event->shared != nullptr) {
      return event->shared->complete(event->shared->latest()) ? cudaSuccess : cudaErrorNotReady;
    }
    return complete(latest(*event)) || stopped() ? failure(*event->device) : cudaErrorNotReady;
  });
}

ANVIL_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return api([&](Thread& thread) {
    Event* event = resolve(handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t refused = admit_query(*event, thread)) {
      return refused;
    }
    if (event->shared != nullptr) {
      event->shared->wait_for(event->shared->latest());
      return failure(*event->device);
    }
    const Record record = latest(*event);
    if (record.stream != nullptr) {
      wait(*record.stream, record.sequence);
    }
    return failure(*event->device);
  });
}

ANVIL_EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds,
                                              cudaEvent_t start_handle,
                                              cudaEvent_t end_handle) {
  return api([&](Thread&) {
    Event* start = resolve(start_handle);
    Event* end = resolve(end_handle);
    if (milliseconds == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (start == nullptr || end == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    const std::lock_guard lock(engine_lock());
    for (const Event* event : {start, end}) {
      if (event->stream == nullptr || (event->flags & cudaEventDisableTiming) != 0 ||
          event->device != start->device) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    for (const Event* event : {start, end}) {
      if (const cudaError_t failed = failure(*event->device)) {
        return failed;
      }
      if (!done(*event->stream, event->sequence)) {
        return cudaErrorNotReady;
      }
    }
    *milliseconds = static_cast<float>(static_cast<double>(end->time - start->time) * 1e-6);
    return cudaSuccess;
  });
}

// Returns at once, also while a record is queued.
ANVIL_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return api([&](Thread&) {
    Event* event = resolve(handle);
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    const std::lock_guard lock(engine_lock());
    event->magic = 0;
    event->shared.reset();
    event->captured.reset();
    if (event->pending == 0) {
      reuse(event);
    }
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
