// The emulated SIMT machine: runs the grid of one launch, block after block, and
// checks what its threads do.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <vector>

#include "test/simt_checker/fiber.h"
#include "test/simt_checker/ordering.h"
#include "test/simt_checker/report.h"
#include "test/simt_checker/shared_memory.h"

namespace anvil::simt_checker {

// Results of a correct kernel don't depend on the order in which blocks run, and
// its threads between two barriers; both are made from this seed. 0: ascending.
void set_order_seed(uint64_t seed);

struct Launch {
  const char* name;
  int64_t blocks;
  int threads;
  size_t shared_bytes;
  void (*body)(const void* kernel);
  const void* kernel;
  size_t kernel_bytes;
};

class Machine {
 public:
  // One for the process: launches run one after another.
  static Machine& instance();
  // The machine while the code of a kernel runs, else null: what the machine does
  // for a kernel is not an access of the kernel's.
  static Machine* running() { return running_; }
  class Pause {
   public:
    Pause() { running_ = nullptr; }
    ~Pause() { running_ = &instance(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    Machine* operator->() const { return &instance(); }
  };

  // Returns when all blocks have run, or at a fault after which the kernel can't
  // go on. Rethrows the first exception of a thread.
  void run(const Launch& launch);

  // What follows is for the code of the kernel: the thread that runs.
  int thread() const { return self_->index; }
  int threads() const { return launch_.threads; }
  int64_t block() const { return block_->index(); }
  int64_t blocks() const { return launch_.blocks; }
  void sync_threads(const Site& site);
  void fence();
  void shuffle(const void* value, void* result, size_t bytes, int from, const Site& site);
  void* dynamic_shared(size_t offset, size_t bytes);
  void* static_shared(const void* key, size_t bytes);
  void begin_atomic(const void* location);
  void end_atomic();
  // Before each access; `alignment` is what the compiler relies on.
  void access(const void* address, size_t bytes, bool is_write, size_t alignment, const void* pc);

 private:
  enum class State { kReady, kBarrier, kShuffle, kDone };
  struct Thread {
    Fiber fiber;
    int index = 0;
    State state = State::kDone;
    Site site{};  // where it waits
    // While it waits in a shuffle.
    const void* value = nullptr;
    void* result = nullptr;
    size_t bytes = 0;
    int from = 0;
  };

  Machine() = default;
  static void run_thread(void* thread);

  void run_block(uint32_t index);
  // Runs the threads that are ready until each waits or is done. False if the
  // kernel can't go on.
  bool run_ready();
  // Completes the shuffles for which all lanes of a warp wait; true if any.
  bool complete_shuffles();
  void complete_barrier();
  // Threads wait, and nothing will wake them.
  void report_divergence();
  // Reports a fault of the running thread's, and ends the launch.
  [[noreturn]] void fail(Fault fault, const std::string& what, const void* pc);
  [[noreturn]] void stop();
  void wait(State state, const Site& site);

  template <class Range>
  void shuffle_order(Range& range);

  static Machine* running_;
  Launch launch_{};
  std::vector<char> arguments_;
  const void* kernel_ = nullptr;  // the copy of the arguments
  uint32_t launch_number_ = 0;
  std::mt19937_64 random_;
  Locations locations_;
  SharedMemory shared_;
  std::unique_ptr<Block> block_;
  std::vector<std::unique_ptr<Thread>> all_threads_;
  Thread* self_ = nullptr;
  const void* atomic_ = nullptr;  // the location of the atomic under way
  bool stopped_ = false;
  std::exception_ptr exception_;
};

}  // namespace anvil::simt_checker
