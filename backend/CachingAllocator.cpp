#include "backend/CachingAllocator.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "backend/Stream.h"
#include "backend/ThreadState.h"
#include "backend/allocator/DeviceCachingAllocator.h"
#include "runtime/table.h"

namespace anvil {
namespace {

using allocator::Block;
using allocator::DeviceCachingAllocator;
using allocator::Usage;

void free_block(void* context);

class CachingAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::DeviceIndex index = detail::thread_state.device;
    const c10::Device device(kDeviceType, index);
    if (bytes == 0) {
      return {nullptr, device};
    }
    Usage usage;
    Block* block = of(index).allocate(bytes, getCurrentStream().stream(), &usage);
    c10::reportMemoryUsageToProfiler(block->pointer, static_cast<int64_t>(block->size),
                                     static_cast<size_t>(usage.allocated),
                                     static_cast<size_t>(usage.reserved), device);
    return {block->pointer, block, &free_block, device};
  }

  void free(Block* block) {
    Usage usage;
    void* pointer = block->pointer;
    const auto size = static_cast<int64_t>(block->size);
    const c10::DeviceIndex device = block->device;
    existing(device)->free(block, &usage);
    c10::reportMemoryUsageToProfiler(pointer, -size, static_cast<size_t>(usage.allocated),
                                     static_cast<size_t>(usage.reserved),
                                     c10::Device(kDeviceType, device));
  }

  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return data.get_deleter() == &free_block &&
           static_cast<const Block*>(data.get_context())->pointer == data.get();
  }

  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    ANVIL_CHECK(runtime::table().cudaMemcpyAsync(
        destination, source, bytes, cudaMemcpyDeviceToDevice, getCurrentStream().stream()));
  }

  bool initialized() override { return is_usable(); }

  void emptyCache(c10::MempoolId_t /*pool*/) override {
    if (!is_usable()) {
      return;
    }
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      if (DeviceCachingAllocator* found = existing(device)) {
        found->empty_cache();
      }
    }
  }

  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    // Memory of others (external, or empty) is not ours to keep.
    if (data.get() == nullptr || data.get_deleter() != &free_block) {
      return;
    }
    auto* block = static_cast<Block*>(data.get_context());
    existing(block->device)->record_stream(block, Stream(stream));
  }

  allocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    return of_checked(device).stats();
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    of_checked(device).reset_accumulated_stats();
  }
  void resetPeakStats(c10::DeviceIndex device) override { of_checked(device).reset_peak_stats(); }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    check_device_index(device);
    const DeviceGuard guard(c10::Device(kDeviceType, device));
    mark_used(device);
    size_t free = 0;
    size_t total = 0;
    ANVIL_CHECK(runtime::table().cudaMemGetInfo(&free, &total));
    return {free, total};
  }

  DeviceCachingAllocator& of_checked(c10::DeviceIndex device) {
    check_device_index(device);
    return of(device);
  }

  DeviceCachingAllocator* existing(c10::DeviceIndex device) {
    return devices_[device].load(std::memory_order_acquire);
  }

 private:
  DeviceCachingAllocator& of(c10::DeviceIndex device) {
    ensure_initialized();
    DeviceCachingAllocator* found = existing(device);
    return found != nullptr ? *found : make(device);
  }

  DeviceCachingAllocator& make(c10::DeviceIndex device) {
    auto* made = new DeviceCachingAllocator(device);
    DeviceCachingAllocator* expected = nullptr;
    if (!devices_[device].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) {
      delete made;
      return *expected;
    }
    return *made;
  }

  std::array<std::atomic<DeviceCachingAllocator*>, kMaxDevices> devices_{};
};

CachingAllocator& instance() {
  // Never destroyed: tensors may outlive statics.
  static auto* allocator = new CachingAllocator();
  return *allocator;
}

void free_block(void* context) {
  // After fork the memory is the parent's; after the end it is the driver's.
  if (!is_usable()) {
    return;
  }
  try {
    instance().free(static_cast<Block*>(context));
  } catch (const std::exception& error) {
    // A deleter runs in a destructor: the block stays pending and is lost.
    TORCH_WARN_ONCE("A block of device memory was not given back, because the device has failed: ",
                    error.what());
  }
}

const c10::AllocatorRegisterer<kDeviceType> registered(&instance());

struct RawMemory {
  std::mutex mutex;
  std::unordered_map<void*, c10::DataPtr> blocks;
};

RawMemory& raw_memory() {
  static auto* memory = new RawMemory();
  return *memory;
}

}  // namespace

c10::DeviceAllocator* getDeviceAllocator() { return &instance(); }

std::vector<c10::CachingDeviceAllocator::SegmentInfo> memory_snapshot() {
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> all;
  for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
    if (DeviceCachingAllocator* found = instance().existing(device)) {
      auto segments = found->snapshot();
      all.insert(all.end(), segments.begin(), segments.end());
    }
  }
  return all;
}

void set_memory_fraction(double fraction, c10::DeviceIndex device) {
  instance().of_checked(device).set_memory_fraction(fraction);
}

double get_memory_fraction(c10::DeviceIndex device) {
  return instance().of_checked(device).memory_fraction();
}

void* raw_allocate(size_t bytes) {
  c10::DataPtr data = instance().allocate(bytes);
  void* pointer = data.get();
  if (pointer != nullptr) {
    RawMemory& memory = raw_memory();
    const std::lock_guard guard(memory.mutex);
    memory.blocks.emplace(pointer, std::move(data));
  }
  return pointer;
}

void raw_free(void* pointer) {
  if (pointer == nullptr) {
    return;
  }
  RawMemory& memory = raw_memory();
  c10::DataPtr data;
  {
    const std::lock_guard guard(memory.mutex);
    const auto found = memory.blocks.find(pointer);
    TORCH_CHECK(found != memory.blocks.end(), "the address ", pointer,
                " did not come from the caching allocator's raw allocation");
    data = std::move(found->second);
    memory.blocks.erase(found);
  }
}

}  // namespace anvil
