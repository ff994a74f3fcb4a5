#include "runtime/simulator/shared_event.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/simulator/engine.h"
#include "runtime/simulator/other_process.h"
#include "runtime/simulator/report.h"

namespace anvil::simulator {
namespace {

// Between two looks at whether the other process still lives.
constexpr timespec kLookEvery{0, 100000000};

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::make() {
  const int file = memfd_create("anvil-event", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, sizeof(Counters)) != 0) {
    close(file);
    return nullptr;
  }
  return map(file);
}

std::shared_ptr<SharedEvent> SharedEvent::open(int file) { return map(file); }

// A new file reads as zeros: nothing recorded.
std::shared_ptr<SharedEvent> SharedEvent::map(int file) {
  if (file < 0) {
    return nullptr;
  }
  void* counters = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counters == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  return std::shared_ptr<SharedEvent>(new SharedEvent(file, static_cast<Counters*>(counters)));
}

SharedEvent::~SharedEvent() {
  munmap(counters_, sizeof(Counters));
  close(file_);
}

void SharedEvent::record(Stream& stream) {
  counters_->recording.store(getpid());
  enqueue(
      stream,
      [](void* data) {
        const std::unique_ptr<Use> use(static_cast<Use*>(data));
        use->event->finish(use->record);
      },
      counters_->recorded.fetch_add(1) + 1);
}

void SharedEvent::wait(Stream& stream) {
  const uint64_t record = latest();
  if (complete(record)) {
    return;
  }
  enqueue(
      stream,
      [](void* data) {
        const std::unique_ptr<Use> use(static_cast<Use*>(data));
        use->event->wait_for(use->record);
      },
      record);
}

void SharedEvent::enqueue(Stream& stream, void (*function)(void*), uint64_t record) {
  Submission work(stream, Work::kHostFunction);
  work->host = {function, new Use{shared_from_this(), record}};
  work.commit();
}

// Records of one event may complete in any order, on several streams.
void SharedEvent::finish(uint64_t record) {
  uint64_t before = counters_->completed.load();
  while (before < record && !counters_->completed.compare_exchange_weak(before, record)) {
  }
  counters_->changes.fetch_add(1);
  futex(counters_->changes, FUTEX_WAKE, INT32_MAX, nullptr);
}

void SharedEvent::wait_for(uint64_t record) const {
  for (;;) {
    const uint32_t changes = counters_->changes.load();
    if (complete(record) || stopped()) {
      return;
    }
    if (!is_alive(counters_->recording.load())) {
      report("a wait for an event of another process was given up: that process has ended");
      return;
    }
    futex(counters_->changes, FUTEX_WAIT, changes, &kLookEvery);
  }
}

}  // namespace anvil::simulator
