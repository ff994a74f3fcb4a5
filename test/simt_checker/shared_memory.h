// The shared memory of one block, with space without owner around each array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "test/simt_checker/shadow.h"

namespace anvil::simt_checker {

class SharedMemory {
 public:
  // What CUDA gives a block at most (compute capability 9.0: 227 KiB).
  static constexpr size_t kMostBytes = size_t{227} * 1024;

  SharedMemory();

  // Forgets all arrays; memory is filled with 0xcd.
  void begin_block(size_t dynamic_bytes);

  // The array at `offset` of the dynamic shared memory. Null if its size differs
  // from an earlier call, or if it does not fit in what the launch asked for.
  void* dynamic_array(size_t offset, size_t bytes);
  // The array of `key`; null if the block has more than kMostBytes then.
  void* static_array(const void* key, size_t bytes);

  bool holds(const void* address) const {
    return address >= memory_.data() && address < memory_.data() + memory_.size();
  }
  // The cells of [address, address + bytes); null if they are not in one array.
  Cell* find(const void* address, size_t bytes);

 private:
  struct Array {
    char* begin;
    size_t bytes;
  };
  char* place(size_t bytes);

  std::vector<char> memory_;
  std::vector<Cell> cells_;
  size_t used_ = 0;   // of memory_, with the spaces
  size_t asked_ = 0;  // bytes of all arrays
  size_t dynamic_bytes_ = 0;
  std::map<size_t, Array> dynamic_;
  std::map<const void*, Array> static_;
  std::map<const char*, size_t> sizes_;  // of all arrays, by their begin
};

}  // namespace anvil::simt_checker
