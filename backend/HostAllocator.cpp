#include "backend/HostAllocator.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/BlockingRegion.h"
#include "backend/Event.h"
#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "backend/Stream.h"
#include "backend/TorchVersion.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil {
namespace {

// The template wants copyable-or-movable events with deferred creation.
using EventPtr = std::unique_ptr<Event>;
using Block = at::HostBlock<Stream>;

// Pinned memory is usable by every device, so none is initialised for it where
// another is in use.
c10::DeviceIndex device_for_pinned_memory() {
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    if (!has_primary_context(current_device()) && has_primary_context(device)) {
      return device;
    }
  }
  return current_device();
}

// See Note [Blocking and the GIL]: the template frees memory with its locks held,
// so the GIL is released around its functions, not around the driver's.
struct CachingImpl final : at::CachingHostAllocatorImpl<Stream, EventPtr, Block> {
  using Base = at::CachingHostAllocatorImpl<Stream, EventPtr, Block>;

  void free(void* ctx) override {
    if (!is_usable()) {
      return;
    }
    if (ctx != nullptr && static_cast<Block*>(ctx)->size_ > largest_cached_pinned_block()) {
      const BlockingRegion region;
      Base::free(ctx);
    } else {
      Base::free(ctx);
    }
  }

  void empty_cache() override {
    if (is_usable()) {
      const BlockingRegion region;
      Base::empty_cache();
    }
  }

  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    std::memcpy(destination, source, bytes);
  }

 private:
  void allocate_host_memory(size_t size, void** pointer) override {
    const DeviceGuard guard(c10::Device(kDeviceType, device_for_pinned_memory()));
    mark_used(current_device());
    cudaError_t code = cudaSuccess;
    {
      const BlockingRegion region;
      code = runtime::table().cudaHostAlloc(pointer, size, cudaHostAllocDefault);
    }
    if (code != cudaSuccess) [[unlikely]] {
      const std::string call =
          "cudaHostAlloc(pointer, " + std::to_string(size) + " bytes of pinned memory)";
      detail::check(code, call.c_str());
    }
  }

  void free_block(Block* block) override {
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
