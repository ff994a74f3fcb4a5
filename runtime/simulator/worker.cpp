#include "runtime/simulator/worker.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"

namespace anvil::simulator {
namespace {

// Some 10 microseconds: a program that enqueues one short kernel after another
// finds the worker awake.
constexpr int kSpins = 500;
constexpr uint64_t kLongestHold = 500000;  // ns

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t random() {
  uint64_t z = engine->random += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

bool may_run(const Stream& stream) {
  return engine->running < engine->slots || stream.head->work == Work::kHostFunction;
}

void take(ReadyList& list, Stream* previous, Stream* stream) {
  (previous != nullptr ? previous->link : list.head) = stream->link;
  if (list.tail == stream) {
    list.tail = previous;
  }
  stream->link = nullptr;
  --engine->ready_count;
}

// Any ready stream that is not held, whatever its priority.
Stream* pick_adversarial(uint64_t* retry_at) {
  const uint64_t time = now();
  int candidates = 0;
  ReadyList* chosen_list = nullptr;
  Stream* chosen = nullptr;
  Stream* before_chosen = nullptr;
  for (ReadyList& list : engine->ready) {
    Stream* previous = nullptr;
    for (Stream* stream = list.head; stream != nullptr; previous = stream, stream = stream->link) {
      if (!may_run(*stream)) {
        continue;
      }
      if (stream->held_until > time) {
        *retry_at = *retry_at == 0 ? stream->held_until : std::min(*retry_at, stream->held_until);
      } else if (random() % ++candidates == 0) {
        chosen_list = &list;
        chosen = stream;
        before_chosen = previous;
      }
    }
  }
  if (chosen != nullptr) {
    take(*chosen_list, before_chosen, chosen);
  }
  return chosen;
}

void execute(Node& node, Device& device) {
  // Once a context has failed, what was queued on it does not run.
  if (failure(device) != cudaSuccess) {
    return;
  }
  switch (node.work) {
    case Work::kLaunch:
      execute_launch(node.launch, device);
      break;
    case Work::kCopy:
      execute_copy(node.copy);
      break;
    case Work::kFill:
      execute_fill(node.fill);
      break;
    case Work::kFree:
      execute_free(node.free);
      break;
    case Work::kHostFunction:
      node.host.function(node.host.data);
      break;
    case Work::kRecord:
    case Work::kWait:
      break;
  }
}

// Kernels of all streams share the machine, so none takes more than its
// thread. The OpenMP runtime is the process's, if it has one.
void use_one_openmp_thread() {
  if (auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) {
    set(1);
  }
}

void sleep(Lock& lock, uint64_t retry_at) {
  if (retry_at != 0) {
    const uint64_t time = now();
    if (retry_at > time) {
      engine->work.wait_for(lock, std::chrono::nanoseconds(retry_at - time));
    }
    return;
  }
  ++engine->idle;
  lock.unlock();
  for (int spin = 0; spin < kSpins && engine->tokens.load(std::memory_order_relaxed) == 0; ++spin) {
    __builtin_ia32_pause();
  }
  lock.lock();
  while (engine->tokens.load(std::memory_order_relaxed) == 0) {
    ++engine->asleep;
    engine->work.wait(lock);
    --engine->asleep;
  }
  engine->tokens.fetch_sub(1, std::memory_order_relaxed);
}

void* worker_main(void*) {
  pthread_setname_np(pthread_self(), "anvil-worker");
  use_one_openmp_thread();
  Lock lock(engine_mutex);
  --engine->starting;
  for (;;) {
    uint64_t retry_at = 0;
    if (Stream* stream = pick(&retry_at)) {
      run_head(*stream, lock);
    } else {
      sleep(lock, retry_at);
    }
  }
}

// Signals that are sent to the process are for the host's threads.
bool start_worker() {
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, worker_main, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) {
    pthread_detach(thread);
  }
  return started;
}

// At exit, queued work does not start any more, and what runs gets time to
// end, because it may use what the process is about to destroy. Host functions
// are not waited for: they may wait for a thread that is gone.
void stop_at_exit() {
  if (phase.load() != Phase::kReady) {
    return;
  }
  Lock lock(engine_mutex);
  engine->finalised = true;
  engine->stopped = true;
  engine->progress.notify_all();
  if (current_thread.inside_stream) {
    return;
  }
  ++engine->host_waiters;
  engine->progress.wait_for(lock, std::chrono::seconds(5), [] { return engine->running == 0; });
  --engine->host_waiters;
}

}  // namespace

void make_engine() {
  engine = new Engine;
  engine->slots = config.threads != 0
                      ? config.threads
                      : std::max(4, static_cast<int>(std::thread::hardware_concurrency()));
  engine->random = config.seed;
  std::atexit(stop_at_exit);
}

void hold(Stream& stream) {
  if (config.adversarial) [[unlikely]] {
    stream.held_until = random() % 2 == 0 ? 0 : now() + random() % kLongestHold;
  }
}

Stream* pick(uint64_t* retry_at) {
  if (engine->ready_count == 0 || engine->stopped) {
    return nullptr;
  }
  if (config.adversarial) [[unlikely]] {
    return pick_adversarial(retry_at);
  }
  for (ReadyList& list : engine->ready) {
    Stream* previous = nullptr;
    for (Stream* stream = list.head; stream != nullptr; previous = stream, stream = stream->link) {
      if (may_run(*stream)) {
        take(list, previous, stream);
        return stream;
      }
    }
  }
  return nullptr;
}

void invite_workers() {
  if (engine->stopped) {
    return;
  }
  while (engine->ready_count > engine->tokens.load(std::memory_order_relaxed) + engine->starting) {
    if (engine->idle > 0) {
      --engine->idle;
      engine->tokens.fetch_add(1, std::memory_order_relaxed);
      if (engine->asleep > 0) {
        engine->work.notify_one();
      }
    } else if (engine->workers - engine->hosting < engine->slots) {
      if (!start_worker()) {
        if (engine->workers == 0) {
          report("no thread could be started; the device cannot run its work");
          std::abort();
        }
        return;
      }
      ++engine->workers;
      ++engine->starting;
    } else {
      return;
    }
  }
}

void run_head(Stream& stream, Lock& lock) {
  Node& node = *stream.head;
  const bool is_host_function = node.work == Work::kHostFunction;
  int& count = is_host_function ? engine->hosting : engine->running;
  stream.state = StreamState::kRunning;
  ++count;
  if (is_host_function && engine->host_waiters > 0) {
    engine->progress.notify_all();  // who waits for room may go on
  }
  if (engine->ready_count > 0 && !config.run_inline) {
    invite_workers();
  }
  lock.unlock();
  const bool before = current_thread.inside_stream;
  current_thread.inside_stream = true;
  execute(node, *stream.device);
  current_thread.inside_stream = before;
  lock.lock();
  --count;
  if (node.work == Work::kRecord) {
    complete_record(node.record.event, node.sequence);
  }
  finish(stream);
  if (engine->stopped) {
    engine->progress.notify_all();
  }
}

void run_inline(Stream& stream, uint64_t sequence, Lock& lock) {
  while (!done(stream, sequence) && !engine->stopped) {
    uint64_t retry_at = 0;
    if (Stream* next = pick(&retry_at)) {
      run_head(*next, lock);
    } else {
      ++engine->host_waiters;
      engine->progress.wait(lock);
      --engine->host_waiters;
    }
  }
}

}  // namespace anvil::simulator
