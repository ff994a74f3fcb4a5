#include "runtime/simulator/fork.h"

#include <pthread.h>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

// The child has no worker threads, and any lock may be held by a thread that is
// gone: nothing here or later takes one.
void in_child() {
  if (phase.load(std::memory_order_acquire) != Phase::kReady) {
    return;
  }
  phase.store(Phase::kForked, std::memory_order_release);
  current_thread.inside_stream = false;
  detach_address_space();
}

}  // namespace

void watch_forks() { pthread_atfork(nullptr, nullptr, in_child); }

}  // namespace anvil::simulator
