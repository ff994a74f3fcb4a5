#include "test/simt_checker/shared_memory.h"

#include <algorithm>

namespace anvil::simt_checker {
namespace {

constexpr size_t kSpace = 128;
constexpr size_t kArrays = 64;

size_t round_up(size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

SharedMemory::SharedMemory()
    : memory_(kMostBytes + (kArrays + 1) * (kSpace + 16)), cells_(memory_.size()) {
  used_ = memory_.size();
}

void SharedMemory::begin_block(size_t dynamic_bytes) {
  std::fill(memory_.begin(), memory_.begin() + used_, static_cast<char>(0xcd));
  std::fill(cells_.begin(), cells_.begin() + used_, Cell{});
  used_ = kSpace - reinterpret_cast<uintptr_t>(memory_.data()) % 16;
  asked_ = dynamic_bytes;
  dynamic_bytes_ = dynamic_bytes;
  dynamic_.clear();
  static_.clear();
  sizes_.clear();
}

char* SharedMemory::place(size_t bytes) {
  if (used_ + round_up(bytes) + kSpace > memory_.size()) {
    return nullptr;
  }
  char* begin = memory_.data() + used_;
  used_ += round_up(bytes) + kSpace;
  sizes_[begin] = bytes;
  return begin;
}

void* SharedMemory::dynamic_array(size_t offset, size_t bytes) {
  const auto known = dynamic_.find(offset);
  if (known != dynamic_.end()) {
    return known->second.bytes == bytes ? known->second.begin : nullptr;
  }
  if (offset + bytes > dynamic_bytes_) {
    return nullptr;
  }
  return (dynamic_[offset] = {place(bytes), bytes}).begin;
}

void* SharedMemory::static_array(const void* key, size_t bytes) {
  const auto known = static_.find(key);
  if (known != static_.end()) {
    return known->second.begin;
  }
  asked_ += round_up(bytes);
  if (asked_ > kMostBytes) {
    return nullptr;
  }
  return (static_[key] = {place(bytes), bytes}).begin;
}

Cell* SharedMemory::find(const void* address, size_t bytes) {
  const char* first = static_cast<const char*>(address);
  const auto next = sizes_.upper_bound(first);
  if (next == sizes_.begin()) {
    return nullptr;
  }
  const auto& [begin, size] = *std::prev(next);
  return first + bytes <= begin + size ? &cells_[first - memory_.data()] : nullptr;
}

}  // namespace anvil::simt_checker
