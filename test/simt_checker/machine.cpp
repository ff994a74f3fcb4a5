#include "test/simt_checker/machine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "test/simt_checker/arrays.h"
#include "test/simt_checker/constant_data.h"

namespace anvil::simt_checker {
namespace {

uint64_t order_seed = 0;

// A thread that never waited has no site: its file is null.
template <class Site>
bool same_site(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || (a.file != nullptr && b.file != nullptr &&
                                                   std::strcmp(a.file, b.file) == 0));
}

}  // namespace

void set_order_seed(uint64_t seed) { order_seed = seed; }

Machine* Machine::running_ = nullptr;

Machine& Machine::instance() {
  static Machine* const machine = new Machine;  // fibers outlive static destructors
  return *machine;
}

template <class Range>
void Machine::shuffle_order(Range& range) {
  if (order_seed != 0) {
    std::shuffle(range.begin(), range.end(), random_);
  }
}

void Machine::run(const Launch& launch) {
  launch_ = launch;
  if (launch.threads <= 0 || launch.threads > 1024 || launch.threads % 32 != 0) {
    add_report(Fault::kLaunch, launch.name, nullptr, nullptr, [&] {
      return std::to_string(launch.threads) +
             " threads in a block; allowed are multiples of 32 up to 1024";
    });
    return;
  }
  if (launch.shared_bytes > SharedMemory::kMostBytes) {
    add_report(Fault::kLaunch, launch.name, nullptr, nullptr, [&] {
      return std::to_string(launch.shared_bytes) + " bytes of shared memory; a block has " +
             std::to_string(SharedMemory::kMostBytes);
    });
    return;
  }
  while (all_threads_.size() < static_cast<size_t>(launch.threads)) {
    all_threads_.push_back(std::make_unique<Thread>());
    all_threads_.back()->index = static_cast<int>(all_threads_.size()) - 1;
  }
  arguments_.resize(launch.kernel_bytes + 64);
  char* copy = arguments_.data() + (64 - reinterpret_cast<uintptr_t>(arguments_.data()) % 64);
  std::memcpy(copy, launch.kernel, launch.kernel_bytes);
  kernel_ = copy;

  ++launch_number_;
  random_.seed(order_seed);
  locations_.clear();
  stopped_ = false;
  exception_ = nullptr;
  std::vector<uint32_t> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0);
  shuffle_order(order);
  for (const uint32_t block : order) {
    run_block(block);
    if (stopped_) {
      break;
    }
  }
  block_ = nullptr;
  if (exception_) {
    std::rethrow_exception(std::exchange(exception_, nullptr));
  }
}

void Machine::run_thread(void* thread) {
  Machine& machine = instance();
  try {
    machine.launch_.body(machine.kernel_);
  } catch (...) {
    machine.exception_ = std::current_exception();
    machine.stopped_ = true;
  }
  static_cast<Thread*>(thread)->state = State::kDone;
  static_cast<Thread*>(thread)->fiber.suspend();
}

void Machine::run_block(uint32_t index) {
  block_ = std::make_unique<Block>(index, launch_.threads, &locations_);
  shared_.begin_block(launch_.shared_bytes);
  for (int i = 0; i < launch_.threads; ++i) {
    all_threads_[i]->state = State::kReady;
    all_threads_[i]->fiber.start(&run_thread, all_threads_[i].get());
  }
  while (run_ready()) {
    if (complete_shuffles()) {
      continue;
    }
    int done = 0;
    int at_barrier = 0;
    bool one_site = true;
    for (int i = 0; i < launch_.threads; ++i) {
      const Thread& thread = *all_threads_[i];
      done += thread.state == State::kDone;
      at_barrier += thread.state == State::kBarrier;
      one_site &= same_site(thread.site, all_threads_[0]->site);
    }
    if (done == launch_.threads) {
      return;
    }
    if (at_barrier < launch_.threads || !one_site) {
      report_divergence();
      stopped_ = true;
      return;
    }
    complete_barrier();
  }
}

bool Machine::run_ready() {
  std::vector<Thread*> ready;
  for (int i = 0; i < launch_.threads; ++i) {
    if (all_threads_[i]->state == State::kReady) {
      ready.push_back(all_threads_[i].get());
    }
  }
  shuffle_order(ready);
  for (Thread* thread : ready) {
    self_ = thread;
    running_ = this;
    thread->fiber.resume();
    running_ = nullptr;
    if (stopped_) {
      return false;
    }
  }
  return true;
}

bool Machine::complete_shuffles() {
  bool any = false;
  for (int warp = 0; warp < launch_.threads; warp += 32) {
    const auto lanes = all_threads_.begin() + warp;
    const Site& site = (*lanes)->site;
    const bool all = std::all_of(lanes, lanes + 32, [&](const auto& lane) {
      return lane->state == State::kShuffle && lane->bytes == (*lanes)->bytes &&
             lane->site.line == site.line && std::strcmp(lane->site.file, site.file) == 0;
    });
    if (!all) {
      continue;
    }
    any = true;
    std::vector<char> values(32 * (*lanes)->bytes);
    for (int i = 0; i < 32; ++i) {
      std::memcpy(&values[i * lanes[i]->bytes], lanes[i]->value, lanes[i]->bytes);
    }
    for (int i = 0; i < 32; ++i) {
      std::memcpy(lanes[i]->result, &values[lanes[i]->from * lanes[i]->bytes], lanes[i]->bytes);
      lanes[i]->state = State::kReady;
    }
  }
  return any;
}

void Machine::complete_barrier() {
  block_->barrier();
  for (int i = 0; i < launch_.threads; ++i) {
    all_threads_[i]->state = State::kReady;
  }
}

void Machine::report_divergence() {
  std::map<std::string, std::vector<int>> groups;
  bool in_shuffle = false;
  for (int i = 0; i < launch_.threads; ++i) {
    const Thread& thread = *all_threads_[i];
    in_shuffle |= thread.state == State::kShuffle;
    const std::string what = thread.state == State::kDone
                                 ? "have returned"
                                 : (thread.state == State::kShuffle ? "wait in a shuffle at "
                                                                    : "wait at the barrier at ") +
                                       describe_site(thread.site);
    groups[what].push_back(i);
  }
  std::string text = "in block " + std::to_string(block());
  const char* separator = " ";
  for (const auto& [what, threads] : groups) {
    text += separator + describe_threads(threads) + " " + what;
    separator = ", ";
  }
  add_report(in_shuffle ? Fault::kDivergentShuffle : Fault::kDivergentBarrier, launch_.name,
             nullptr, nullptr, [&] { return text; });
}

void Machine::stop() {
  stopped_ = true;
  self_->fiber.suspend();
  __builtin_unreachable();
}

void Machine::fail(Fault fault, const std::string& what, const void* pc) {
  add_report(fault, launch_.name, pc, nullptr, [&] { return what; });
  stop();
}

void Machine::wait(State state, const Site& site) {
  self_->state = state;
  self_->site = site;
  self_->fiber.suspend();
}

void Machine::sync_threads(const Site& site) { wait(State::kBarrier, site); }

void Machine::fence() { block_->fence(thread()); }

void Machine::shuffle(const void* value, void* result, size_t bytes, int from, const Site& site) {
  self_->value = value;
  self_->result = result;
  self_->bytes = bytes;
  self_->from = from & 31;  // as the hardware does
  wait(State::kShuffle, site);
}

void* Machine::dynamic_shared(size_t offset, size_t bytes) {
  void* array = shared_.dynamic_array(offset, bytes);
  if (array == nullptr) {
    fail(Fault::kLaunch,
         "shared memory of " + std::to_string(bytes) + " bytes at offset " +
             std::to_string(offset) + " for thread " + std::to_string(thread()) + " of block " +
             std::to_string(block()) + "; the launch has " + std::to_string(launch_.shared_bytes) +
             " bytes, and all threads ask for the same arrays",
         nullptr);
  }
  return array;
}

void* Machine::static_shared(const void* key, size_t bytes) {
  void* array = shared_.static_array(key, bytes);
  if (array == nullptr) {
    fail(Fault::kLaunch, "more shared memory than a block has", nullptr);
  }
  return array;
}

void Machine::begin_atomic(const void* location) {
  atomic_ = location;
  block_->atomic(thread(), location);
}

void Machine::end_atomic() { atomic_ = nullptr; }

void Machine::access(
    const void* address, size_t bytes, bool is_write, size_t alignment, const void* pc) {
  if (self_->fiber.owns(address)) {
    return;
  }
  const Accessor accessor{block(), thread(), is_write, atomic_ != nullptr, pc};
  const auto size = std::to_string(bytes) + " bytes: ";
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    fail(Fault::kMisaligned, size + describe(accessor), pc);
  }
  Cell* cells = nullptr;
  bool is_shared = false;
  const char* place = "global memory";
  std::string array_name;
  if (shared_.holds(address)) {
    is_shared = true;
    place = "shared memory";
    cells = shared_.find(address, bytes);
    if (cells == nullptr) {
      fail(Fault::kOutOfBounds,
           size + describe(accessor) + ", outside of the block's shared arrays", pc);
    }
  } else if (Array* array = find_array(address, bytes)) {
    cells = &array->cells[static_cast<const char*>(address) - array->begin];
    place = array->name.c_str();
    if (atomic_ == nullptr) {
      block_->touch(thread());
    }
  } else if (Fiber::is_stack(address)) {
    fail(Fault::kPrivate, size + describe(accessor), pc);
  } else if ((address >= arguments_.data() && address < arguments_.data() + arguments_.size()) ||
             is_constant_data(address)) {
    if (is_write) {
      fail(Fault::kReadOnly, size + describe(accessor), pc);
    }
    return;
  } else {
    fail(Fault::kOutOfBounds, size + describe(accessor) + ", " + describe_address(address), pc);
  }

  const Access access{launch_number_,     block_->index(),
                      block_->clock(),    static_cast<uint16_t>(thread()),
                      atomic_ != nullptr, pc};
  for (size_t i = 0; i < bytes; ++i) {
    if (is_shared && !is_write && cells[i].write.launch == 0) {
      fail(Fault::kUninitialized, size + describe(accessor), pc);
    }
    Conflict conflict;
    if (record(cells[i], access, is_write, *block_, &conflict)) {
      const Access& other = conflict.other;
      add_report(other.block == access.block ? Fault::kRace : Fault::kBlockRace, launch_.name, pc,
                 other.pc, [&] {
                   return std::string(place) + ": " + describe(accessor) + " and " +
                          describe({other.block, other.thread, conflict.other_is_write,
                                    other.is_atomic, other.pc});
                 });
      return;
    }
  }
}

}  // namespace anvil::simt_checker
