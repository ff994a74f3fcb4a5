#include "runtime/simulator/engine.h"

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "runtime/simulator/capture.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"
#include "runtime/simulator/worker.h"

namespace anvil::simulator {

constinit std::mutex engine_mutex;
constinit Engine* engine = nullptr;

namespace {

void push(Stream*& list, Stream* stream) {
  stream->link = list;
  list = stream;
}

// Moves all of `from` to `list`.
void move_all(Stream*& from, Stream*& list) {
  while (from != nullptr) {
    Stream* stream = from;
    from = stream->link;
    push(list, stream);
  }
}

// The legacy stream's rule; the stream has a head.
bool gated(const Stream& stream) {
  const Device& device = *stream.device;
  const uint64_t ticket = stream.head->ticket;
  if (stream.legacy) {
    if (device.busy_blocking == 0) {
      return false;
    }
    for (const Stream* other = engine->streams; other != nullptr; other = other->next) {
      if (other->device == &device && other->blocking() && other->head != nullptr &&
          other->head->ticket < ticket) {
        return true;
      }
    }
    return false;
  }
  return stream.blocking() && device.legacy.head != nullptr && device.legacy.head->ticket < ticket;
}

void free_node(Node* node) {
  if (node->work == Work::kCopy && node->copy.staging != nullptr) {
    std::free(node->copy.staging);
  }
  engine->nodes.give(node);
}

// Completes the head; who may have waited for it goes to `unsettled`.
void pop(Stream& stream, Stream*& unsettled) {
  Node* node = stream.head;
  stream.head = node->next;
  Device& device = *stream.device;
  if (stream.head == nullptr) {
    stream.tail = nullptr;
    if (stream.blocking()) {
      --device.busy_blocking;
    }
  }
  stream.completed.store(node->sequence, std::memory_order_release);
  free_node(node);
  move_all(stream.waiters, unsettled);
  if (device.gated != nullptr && (stream.legacy || stream.blocking())) {
    move_all(device.gated, unsettled);
  }
  if (engine->host_waiters > 0) {
    engine->progress.notify_all();
  }
}

void make_ready(Stream& stream) {
  stream.state = StreamState::kReady;
  stream.link = nullptr;
  hold(stream);
  ReadyList& list = engine->ready[stream.priority - kGreatestPriority];
  if (list.tail != nullptr) {
    list.tail->link = &stream;
  } else {
    list.head = &stream;
  }
  list.tail = &stream;
  ++engine->ready_count;
}

void advance(Stream& stream, Stream*& unsettled) {
  while (stream.head != nullptr) {
    Node& node = *stream.head;
    if (gated(stream)) {
      stream.state = StreamState::kGated;
      push(stream.device->gated, &stream);
      return;
    }
    if (node.work == Work::kWait) {
      if (!done(*node.wait.stream, node.wait.sequence)) {
        stream.state = StreamState::kWaiting;
        push(node.wait.stream->waiters, &stream);
        return;
      }
    } else if (node.work == Work::kRecord && !config.adversarial) {
      complete_record(node.record.event, node.sequence);
    } else {
      make_ready(stream);
      return;
    }
    pop(stream, unsettled);
  }
  stream.state = StreamState::kIdle;
  if (stream.magic != kStreamMagic) {
    push(engine->reusable, &stream);
  }
}

}  // namespace

void enqueue(Stream& stream, Node* node) {
  node->next = nullptr;
  node->sequence = ++stream.enqueued;
  node->ticket = ++stream.device->tickets;
  if (stream.tail != nullptr) {
    stream.tail->next = node;
    stream.tail = node;
    return;
  }
  stream.head = stream.tail = node;
  if (stream.blocking()) {
    ++stream.device->busy_blocking;
  }
  if (stream.state == StreamState::kIdle) {
    stream.link = nullptr;
    settle(&stream);
  }
}

void settle(Stream* list) {
  while (list != nullptr) {
    Stream* stream = list;
    list = stream->link;
    advance(*stream, list);
  }
}

void finish(Stream& stream) {
  Stream* unsettled = nullptr;
  pop(stream, unsettled);
  push(unsettled, &stream);
  settle(unsettled);
}

namespace {

void wait_for_room(const Stream& stream, Lock& lock) {
  const auto full = [&] { return stream.enqueued - stream.completed.load() >= kLongestQueue; };
  if (!full() || current_thread.inside_stream) [[likely]] {
    return;
  }
  ++engine->host_waiters;
  while (full() && engine->hosting == 0 && !engine->finalised) {
    engine->progress.wait(lock);
  }
  --engine->host_waiters;
}

}  // namespace

Submission::Submission(Stream& stream, Work work, size_t payload_bytes)
    : stream_(stream), lock_(engine_mutex) {
  if (work == Work::kLaunch || work == Work::kCopy || work == Work::kFill) {
    wait_for_room(stream, lock_);
  }
  node_ = engine->nodes.take(payload_bytes);
  node_->work = work;
  if (work == Work::kCopy) {
    node_->copy.staging = nullptr;
  }
}

Submission::~Submission() {
  if (node_ != nullptr) {
    free_node(node_);
  }
}

namespace {

cudaGraphNodeType graph_type(Work work) {
  switch (work) {
    case Work::kLaunch:
      return cudaGraphNodeTypeKernel;
    case Work::kCopy:
      return cudaGraphNodeTypeMemcpy;
    case Work::kFill:
      return cudaGraphNodeTypeMemset;
    case Work::kHostFunction:
      return cudaGraphNodeTypeHost;
    case Work::kRecord:
      return cudaGraphNodeTypeEventRecord;
    default:
      return cudaGraphNodeTypeEmpty;
  }
}

}  // namespace

void start_work(Stream& stream, Lock& lock) {
  if (config.run_inline) [[unlikely]] {
    run_inline(stream, stream.enqueued, lock);
  } else if (engine->ready_count > 0) {
    invite_workers();
  }
}

void Submission::commit() {
  if (stream_.captured != nullptr) [[unlikely]] {
    capture_work(stream_, graph_type(node_->work), node_);
    return;
  }
  if (engine->finalised) [[unlikely]] {
    if (node_->work == Work::kRecord) {
      // Nothing will complete the record, so there is none.
      node_->record.event->stream = nullptr;
      complete_record(node_->record.event, 0);
    }
    free_node(std::exchange(node_, nullptr));
    return;
  }
  enqueue(stream_, std::exchange(node_, nullptr));
  start_work(stream_, lock_);
}

std::mutex& engine_lock() { return engine_mutex; }

namespace {

// Spinning this long bridges the gap between two short kernels.
constexpr int kSpins = 500;

void wait_locked(Stream& stream, uint64_t sequence, Lock& lock) {
  ++engine->host_waiters;
  while (!done(stream, sequence) && !engine->stopped) {
    engine->progress.wait(lock);
  }
  --engine->host_waiters;
}

// Calls `f(stream)` for the streams of `device`; null: of every device.
template <class F>
void for_each_stream(const Device* only, F&& f) {
  for (int index = 0; index < config.devices; ++index) {
    if (only == nullptr || only->index == index) {
      f(device(index).legacy);
    }
  }
  for (Stream* stream = engine->streams; stream != nullptr; stream = stream->next) {
    if (only == nullptr || only == stream->device) {
      f(*stream);
    }
  }
}

// Waits for what is queued now in the streams that `wanted` accepts. Streams
// are never freed, and new ones are put in front: walking on is safe.
template <class Wanted>
void wait_for_each(const Device* only, Lock& lock, Wanted&& wanted) {
  for_each_stream(only, [&](Stream& stream) {
    if (wanted(stream)) {
      wait_locked(stream, stream.enqueued, lock);
    }
  });
}

}  // namespace

void wait(Stream& stream, uint64_t sequence) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (done(stream, sequence)) {
      return;
    }
    __builtin_ia32_pause();
  }
  Lock lock(engine_mutex);
  if (!engine->finalised) {
    wait_locked(stream, sequence, lock);
  }
}

void wait_for_stream(Stream& stream) {
  Lock lock(engine_mutex);
  if (!stream.legacy || stream.device->busy_blocking == 0) {
    const uint64_t sequence = stream.enqueued;
    lock.unlock();
    wait(stream, sequence);
  } else if (!engine->finalised) {
    wait_for_each(stream.device, lock,
                  [](const Stream& other) { return other.legacy || other.blocking(); });
  }
}

void wait_for_device(const Device& device) {
  Lock lock(engine_mutex);
  if (!engine->finalised) {
    wait_for_each(&device, lock, [](const Stream&) { return true; });
  }
}

void wait_for_all_devices() {
  Lock lock(engine_mutex);
  if (!engine->finalised) {
    wait_for_each(nullptr, lock, [](const Stream&) { return true; });
  }
}

bool idle(const Stream& stream) {
  const Lock lock(engine_mutex);
  if (engine->stopped) {
    return true;
  }
  return stream.head == nullptr && (!stream.legacy || stream.device->busy_blocking == 0);
}

bool stopped() {
  const Lock lock(engine_mutex);
  return engine->stopped;
}

Stream* make_stream(Device& device, unsigned flags, int priority) {
  const Lock lock(engine_mutex);
  Stream* stream = engine->reusable;
  if (stream != nullptr) {
    engine->reusable = stream->link;
    stream->link = nullptr;
  } else {
    stream = new Stream;
    stream->next = engine->streams;
    engine->streams = stream;
  }
  stream->device = &device;
  stream->flags = flags;
  stream->priority = priority;
  stream->magic = kStreamMagic;
  return stream;
}

void destroy_stream(Stream* stream) {
  const Lock lock(engine_mutex);
  leave_capture(*stream);
  stream->magic = 0;
  if (stream->state == StreamState::kIdle) {
    push(engine->reusable, stream);
  }
}

void drain() {
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto left = [] {
    uint64_t count = 0;
    for_each_stream(
        nullptr, [&](const Stream& stream) { count += stream.enqueued - stream.completed.load(); });
    return count;
  };
  Lock lock(engine_mutex);
  engine->finalised = true;
  engine->progress.notify_all();
  ++engine->host_waiters;
  const bool ran = engine->progress.wait_for(lock, kPatience, [&] { return left() == 0; });
  --engine->host_waiters;
  if (!ran) {
    engine->stopped = true;
    engine->progress.notify_all();
    report(
        "the process ends with work in its streams: %llu kernels, copies or host functions "
        "do not run; synchronize before the end if they matter",
        static_cast<unsigned long long>(left()));
  }
}

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace anvil::simulator
