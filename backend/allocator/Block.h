// A part of a segment of device memory.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "backend/Stream.h"

namespace anvil::allocator {

class FreeBlocks;

// Blocks tile their segment: `previous` and `next` are the neighbours by
// address. A block is in one of three states:
//   free       in `pool`, can be handed out
//   allocated  handed out
//   pending    given back, but other streams still use it: pending_events > 0
// The block at a segment's start is one object for the segment's whole life.
struct Block {
  char* pointer = nullptr;
  size_t size = 0;       // bytes, a multiple of kMinBlockSize
  size_t requested = 0;  // bytes that the caller asked for
  FreeBlocks* pool = nullptr;
  cudaStream_t stream = nullptr;  // on which the memory is reused without waiting
  c10::DeviceIndex device = 0;
  bool allocated = false;
  uint32_t pending_events = 0;
  uint64_t freed_at = 0;           // the allocator's clock, for garbage collection
  Block* previous = nullptr;       // neighbour below, in the segment
  Block* next = nullptr;           // neighbour above
  Block* previous_free = nullptr;  // list of FreeBlocks
  Block* next_free = nullptr;
  std::vector<Stream> other_streams;  // of recordStream()

  bool is_split() const { return previous != nullptr || next != nullptr; }
  bool is_free() const { return !allocated && pending_events == 0; }
};

// Owner of all Block objects of a device; recycles them, so that splitting and
// merging cost no call of malloc. Not thread-safe.
class BlockArena {
 public:
  // A block that is neither allocated nor pending, without neighbours. The rest
  // is the caller's to set (this is on every allocation's path).
  Block* make() {
    if (spare_ == nullptr) {
      return &blocks_.emplace_back();
    }
    Block* block = spare_;
    spare_ = block->next;
    block->requested = 0;
    block->previous = nullptr;
    block->next = nullptr;
    return block;
  }
  // `block` is free, so that no stream is recorded in it.
  void recycle(Block* block) {
    block->next = spare_;
    spare_ = block;
  }

 private:
  std::deque<Block> blocks_;
  Block* spare_ = nullptr;
};

}  // namespace anvil::allocator
