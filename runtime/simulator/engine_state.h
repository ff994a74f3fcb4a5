// The engine's insides, shared by engine.cpp (queues) and worker.cpp (threads).
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"

namespace anvil::simulator {

constexpr int kPriorities = kLeastPriority - kGreatestPriority + 1;

struct ReadyList {
  Stream* head = nullptr;
  Stream* tail = nullptr;
};

struct Engine {
  NodePool nodes;
  Stream* streams = nullptr;     // all but the legacy ones, linked by `next`
  Stream* reusable = nullptr;    // destroyed and empty, linked by `link`
  ReadyList ready[kPriorities];  // [0] is the greatest priority
  int ready_count = 0;
  uint64_t random = 0;  // state of the adversarial schedule

  // Workers. `slots` of them may run work that is not a host function (those
  // may block, so they do not count).
  int slots = 0;
  int workers = 0;             // threads that exist
  int starting = 0;            // of these: have not looked for work yet
  int idle = 0;                // of these: have no work and no token
  int asleep = 0;              // of these: in `work`
  int running = 0;             // pieces of work that run now, without host functions
  int hosting = 0;             // host functions that run now
  std::atomic<int> tokens{0};  // invitations that no worker has taken yet
  std::condition_variable work;

  // Threads in wait().
  int host_waiters = 0;
  std::condition_variable progress;

  bool finalised = false;  // later work is dropped
  bool stopped = false;    // queued work does not start any more
};

extern std::mutex engine_mutex;
extern Engine* engine;

using Lock = std::unique_lock<std::mutex>;

// All below: with the lock.

// Puts work at the end of a stream's queue.
void enqueue(Stream& stream, Node* node);

// After `enqueue`: finds workers for what is ready, or in inline mode runs what
// `stream` has.
void start_work(Stream& stream, Lock& lock);

// Finds the state of the streams in `list` (linked by `link`, in no other
// list), completes what needs no worker, and makes the rest ready.
void settle(Stream* list);

// The head of `stream` was run: completes it.
void finish(Stream& stream);

// A ready stream whose head may run now, taken from its list, or null; then
// `retry_at` is when to ask again, or 0 if only a change will help.
Stream* pick(uint64_t* retry_at);

// Sees to it that ready streams find workers.
void invite_workers();

// Runs the head of a picked stream; releases the lock meanwhile.
void run_head(Stream& stream, Lock& lock);

// Runs ready work on the calling thread until `stream` is past `sequence`.
void run_inline(Stream& stream, uint64_t sequence, Lock& lock);

// Does what the node says; without the lock. (launch.cpp, copy.cpp, pool.cpp)
void execute_launch(const LaunchWork& work, Device& device);
void execute_copy(const CopyWork& work);
void execute_fill(const FillWork& work);
void execute_free(const FreeWork& work);

uint64_t now();  // ns, monotonic

}  // namespace anvil::simulator
