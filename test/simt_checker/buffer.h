// Memory that checked kernels work on.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/memory.h"
#include "test/simt_checker/arrays.h"

namespace anvil::simt_checker {

// `size` elements that host code and checked kernels both reach; pinned, so that
// the simulator's copies and fills serve them too. Their bytes are 0xcd until
// they are written. What lies within 256 bytes around them is no array.
template <class T>
class Buffer {
 public:
  Buffer(const std::string& name, size_t size)
      : size_(size), memory_(runtime::Bytes{size * sizeof(T) + 2 * kGuard}) {
    std::memset(memory_.get(), 0xcd, size * sizeof(T) + 2 * kGuard);
    add_array(name, data(), size * sizeof(T));
  }
  Buffer(const std::string& name, const std::vector<T>& values) : Buffer(name, values.size()) {
    std::copy(values.begin(), values.end(), data());
  }
  ~Buffer() { remove_array(data()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + kGuard); }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data()[i]; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  std::vector<T> to_vector() const { return {begin(), end()}; }
  void fill(T value) { std::fill(begin(), end(), value); }

 private:
  static constexpr size_t kGuard = 256;
  size_t size_;
  runtime::PinnedMemory memory_;
};

}  // namespace anvil::simt_checker
