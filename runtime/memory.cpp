#include "runtime/memory.h"

#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::runtime {
namespace {

void* allocate_device(Bytes bytes) {
  void* pointer = nullptr;
  ANVIL_CUDA_CHECK(table().cudaMalloc(&pointer, static_cast<size_t>(bytes)));
  return pointer;
}

void* allocate_pinned(Bytes bytes) {
  void* pointer = nullptr;
  ANVIL_CUDA_CHECK(
      table().cudaHostAlloc(&pointer, static_cast<size_t>(bytes), cudaHostAllocDefault));
  return pointer;
}

}  // namespace

void DeviceMemoryTraits::destroy(void* pointer) noexcept { ignore(table().cudaFree(pointer)); }
void PinnedMemoryTraits::destroy(void* pointer) noexcept { ignore(table().cudaFreeHost(pointer)); }

DeviceMemory::DeviceMemory(Bytes bytes) : Handle(allocate_device(bytes)) {}
PinnedMemory::PinnedMemory(Bytes bytes) : Handle(allocate_pinned(bytes)) {}

void copy_async(void* to, const void* from, Bytes bytes, StreamRef stream) {
  ANVIL_CUDA_CHECK(table().cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault,
                                           stream.get()));
}

void fill_async(void* to, unsigned char value, Bytes bytes, StreamRef stream) {
  ANVIL_CUDA_CHECK(table().cudaMemsetAsync(to, value, static_cast<size_t>(bytes), stream.get()));
}

MemoryInfo memory_info() {
  size_t free = 0;
  size_t total = 0;
  ANVIL_CUDA_CHECK(table().cudaMemGetInfo(&free, &total));
  return {Bytes{free}, Bytes{total}};
}

}  // namespace anvil::runtime
