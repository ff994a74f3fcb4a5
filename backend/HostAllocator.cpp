#include "backend/HostAllocator.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "backend/BlockingRegion.h"
#include "backend/Event.h"
#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/Lifecycle.h"
#include "backend/Stream.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil {
namespace {

// The template wants copyable-or-movable events with deferred creation.
using EventPtr = std::unique_ptr<Event>;
using Block = at::HostBlock<Stream>;

struct CachingImpl final : at::CachingHostAllocatorImpl<Stream, EventPtr, Block> {
  void free(void* ctx) override {
    if (is_usable()) {
      at::CachingHostAllocatorImpl<Stream, EventPtr, Block>::free(ctx);
    }
  }

  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    std::memcpy(destination, source, bytes);
  }

 private:
  void allocate_host_memory(size_t size, void** pointer) override {
    mark_used(current_device());
    cudaError_t code = cudaSuccess;
    {
      const BlockingRegion region;
      code = runtime::table().cudaHostAlloc(pointer, size, cudaHostAllocDefault);
    }
    detail::check(code, "cudaHostAlloc(pointer, size)");
  }

  void free_block(Block* block) override {
    const BlockingRegion region;
    runtime::ignore(runtime::table().cudaFreeHost(block->ptr_));
  }

  void record_stream(std::optional<std::vector<EventPtr>>& events, Stream stream) override {
    auto event = std::make_unique<Event>();
    event->record(stream);
    events->push_back(std::move(event));
  }

  bool query_event(EventPtr& event) override { return event->query(); }

  Stream get_current_stream() const override { return getCurrentStream(); }
  bool stream_is_capturing(Stream stream) const override { return stream.is_capturing(); }
};

void free_pinned(void* context);

using Allocator = at::CachingHostAllocatorInterface<CachingImpl, &free_pinned>;

Allocator& instance() {
  // Never destroyed: tensors may outlive statics.
  static auto* allocator = new Allocator();
  return *allocator;
}

void free_pinned(void* context) { instance().free(context); }

const at::HostAllocatorRegistry<kDeviceType> registered(getHostAllocator());

}  // namespace

at::HostAllocator* getHostAllocator() { return &instance(); }

bool is_pinned(const void* data) noexcept {
  if (data == nullptr || !is_usable()) {
    return false;
  }
  cudaPointerAttributes attributes{};
  const cudaError_t code = runtime::table().cudaPointerGetAttributes(&attributes, data);
  if (code != cudaSuccess) {
    runtime::ignore(code);
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

}  // namespace anvil
