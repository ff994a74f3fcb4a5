#include "backend/allocator/FreeBlocks.h"

#include <bit>

#include "backend/allocator/Sizes.h"

namespace anvil::allocator {
namespace {

constexpr int kStepBits = 5;     // classes of the large pool per power of two: 2^5
constexpr int kFirstPower = 20;  // the large pool holds blocks above 1 MiB
constexpr size_t kSmallClasses = kSmallSegment / kMinBlockSize + 1;
constexpr size_t kLargeClasses = size_t{64 - kFirstPower} << kStepBits;

}  // namespace

FreeBlocks::FreeBlocks(bool is_small)
    : is_small_(is_small),
      heads_(is_small ? kSmallClasses : kLargeClasses),
      occupied_(heads_.size() / 64 + 1) {}

size_t FreeBlocks::class_of(size_t size) const {
  if (is_small_) {
    return size / kMinBlockSize;
  }
  const int power = std::bit_width(size) - 1;
  const size_t step = (size >> (power - kStepBits)) & ((size_t{1} << kStepBits) - 1);
  return (static_cast<size_t>(power - kFirstPower) << kStepBits) + step;
}

size_t FreeBlocks::next_class(size_t first) const {
  size_t word = first / 64;
  const uint64_t here = occupied_[word] & (~uint64_t{0} << (first % 64));
  if (here != 0) {
    return word * 64 + std::countr_zero(here);
  }
  ++word;
  for (size_t i = word / 64; i < occupied_words_.size(); ++i) {
    const uint64_t mask = i == word / 64 ? ~uint64_t{0} << (word % 64) : ~uint64_t{0};
    if (const uint64_t words = occupied_words_[i] & mask; words != 0) {
      word = i * 64 + std::countr_zero(words);
      return word * 64 + std::countr_zero(occupied_[word]);
    }
  }
  return heads_.size();
}

void FreeBlocks::insert(Block* block) {
  const size_t index = class_of(block->size);
  Block* before = nullptr;
  Block* after = heads_[index];
  while (after != nullptr && after->size < block->size) {
    before = after;
    after = after->next_free;
  }
  block->previous_free = before;
  block->next_free = after;
  if (after != nullptr) {
    after->previous_free = block;
  }
  if (before != nullptr) {
    before->next_free = block;
  } else {
    heads_[index] = block;
    occupied_[index / 64] |= uint64_t{1} << (index % 64);
    occupied_words_[index / 4096] |= uint64_t{1} << (index / 64 % 64);
  }
}

void FreeBlocks::remove(Block* block) {
  if (block->next_free != nullptr) {
    block->next_free->previous_free = block->previous_free;
  }
  if (block->previous_free != nullptr) {
    block->previous_free->next_free = block->next_free;
    return;
  }
  const size_t index = class_of(block->size);
  heads_[index] = block->next_free;
  if (heads_[index] == nullptr) {
    uint64_t& word = occupied_[index / 64];
    word &= ~(uint64_t{1} << (index % 64));
    if (word == 0) {
      occupied_words_[index / 4096] &= ~(uint64_t{1} << (index / 64 % 64));
    }
  }
}

Block* FreeBlocks::best_fit(size_t size) const {
  const size_t own = class_of(size);
  size_t index = next_class(own);
  if (index == own && !is_small_) {
    // The list of the own class is ordered, but may start below `size`.
    for (Block* block = heads_[own]; block != nullptr; block = block->next_free) {
      if (block->size >= size) {
        return block;
      }
    }
    index = next_class(own + 1);
  }
  return index < heads_.size() ? heads_[index] : nullptr;
}

}  // namespace anvil::allocator
