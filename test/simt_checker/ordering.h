// Which accesses of other blocks a thread may rely on.
//
// Blocks are ordered by fences and atomics only (CUDA Programming Guide, "Memory
// Fence Functions"): a block releases what it did before a fence that precedes
// an atomic on a location, and a block that does an atomic on the same location
// later, and then a fence, acquires it. A barrier passes both on to the other
// threads of the block. Not modelled: orders through a third block.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace anvil::simt_checker {

struct Access;

// What a block has released: its accesses with a stamp below `before`, and those
// of `thread` with one below `own_before`.
struct Release {
  uint32_t before = 0;
  int thread = 0;
  uint32_t own_before = 0;
};
using Releases = std::map<uint32_t, Release>;  // by block

// The releases that hang on each atomic location, of one launch.
using Locations = std::unordered_map<const void*, Releases>;

// The clock of a block. It advances with each barrier and each fence.
class Block {
 public:
  Block(uint32_t index, int threads, Locations* locations);

  uint32_t index() const { return index_; }
  uint32_t clock() const { return clock_; }
  // The clock at the last barrier.
  uint32_t phase_begin() const { return phase_begin_; }

  void barrier();
  void fence(int thread);
  void atomic(int thread, const void* location);
  // A thread touched global memory without an atomic.
  void touch(int thread) { threads_[thread].unfenced = true; }

  // Whether `earlier`, of another block, is ordered before what `thread` does now.
  bool is_after(const Access& earlier, int thread) const;

 private:
  struct Thread {
    uint32_t fence = 0;     // clock after its last fence
    bool unfenced = false;  // touched memory since
    uint32_t acquired = 0;  // it sees acquired_ up to this version
  };
  struct Pending {
    int thread;
    uint32_t stamp;
    Releases releases;
  };
  struct Acquired {
    Release release;
    uint32_t version;
  };

  uint32_t index_;
  Locations* locations_;
  uint32_t clock_ = 1;
  uint32_t phase_begin_ = 1;
  uint32_t fenced_before_ = 0;
  uint32_t version_ = 0;
  std::vector<Thread> threads_;
  std::vector<Pending> pending_;
  std::map<uint32_t, Acquired> acquired_;
};

}  // namespace anvil::simt_checker
