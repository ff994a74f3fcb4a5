// Device memory and pinned host memory, and copies between them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/export.h"
#include "runtime/handle.h"
#include "runtime/stream.h"

namespace anvil::runtime {

// A size. Not a number by accident: elements are not bytes.
enum class Bytes : size_t {};

template <class T>
constexpr Bytes bytes_of(size_t elements) {
  return Bytes{elements * sizeof(T)};
}

struct DeviceMemoryTraits {
  using value_type = void*;
  ANVIL_RUNTIME_API static void destroy(void* pointer) noexcept;
};

// Owns memory of the device that was current when it was made; uninitialised.
// Host code must not follow `get()`. The constructor throws Error with
// cudaErrorMemoryAllocation if there is no room; 0 bytes give a null pointer.
// The destructor waits for the device.
class ANVIL_RUNTIME_API DeviceMemory : public Handle<DeviceMemoryTraits> {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(Bytes bytes);
  explicit DeviceMemory(int) = delete;
};

struct PinnedMemoryTraits {
  using value_type = void*;
  ANVIL_RUNTIME_API static void destroy(void* pointer) noexcept;
};

// Owns page-locked host memory, which host code and every device can use; else
// as DeviceMemory.
class ANVIL_RUNTIME_API PinnedMemory : public Handle<PinnedMemoryTraits> {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(Bytes bytes);
  explicit PinnedMemory(int) = delete;
};

// Enqueues a copy; the direction is what the pointers are. Returns before it is
// done, but for pageable host memory: a pageable source may be changed when the
// call returns, a pageable destination holds the data then.
ANVIL_RUNTIME_API void copy_async(void* to, const void* from, Bytes bytes, StreamRef stream);

// Enqueues writing `value` to each byte of device or pinned memory.
ANVIL_RUNTIME_API void fill_async(void* to, unsigned char value, Bytes bytes, StreamRef stream);

struct MemoryInfo {
  Bytes free;
  Bytes total;
};
// Of the calling thread's current device.
ANVIL_RUNTIME_API MemoryInfo memory_info();

}  // namespace anvil::runtime
