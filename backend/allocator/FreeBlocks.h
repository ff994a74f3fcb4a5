// The free blocks of one pool, ordered by size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/allocator/Block.h"

namespace anvil::allocator {

// Best fit in a few instructions and without allocation: one intrusive list for
// each class of sizes, and a bitmap of the lists that are not empty (the idea of
// TLSF: Masmano et al., "TLSF: a new dynamic memory allocator for real-time
// systems", 2004). Classes of the small pool hold one size each; those of the
// large pool are 32 steps per power of two, their lists ordered by size. Among
// blocks of equal size the one freed last comes first. Not thread-safe.
class FreeBlocks {
 public:
  explicit FreeBlocks(bool is_small);
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;

  bool is_small() const { return is_small_; }

  void insert(Block* block);
  void remove(Block* block);

  // The smallest block of at least `size` bytes, or null. It stays in the pool.
  Block* best_fit(size_t size) const;

  // f(Block*) for each block, by class from small to large. `f` may remove the
  // block that it is given.
  template <class F>
  void for_each(F f) const {
    for (Block* block : heads_) {
      while (block != nullptr) {
        Block* next = block->next_free;
        f(block);
        block = next;
      }
    }
  }

 private:
  size_t class_of(size_t size) const;
  // The first class from `first` on that has a block, or heads_.size().
  size_t next_class(size_t first) const;

  bool is_small_;
  std::vector<Block*> heads_;
  std::vector<uint64_t> occupied_;            // a bit for each class
  std::array<uint64_t, 2> occupied_words_{};  // a bit for each word of occupied_
};

}  // namespace anvil::allocator
