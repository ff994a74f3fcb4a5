// What asks the driver: segments are taken, given back, and missing.
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "backend/BlockingRegion.h"
#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/allocator/DeviceCachingAllocator.h"
#include "backend/allocator/Sizes.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::allocator {
namespace {

std::string in_units(size_t bytes) {
  char text[32];
  if (bytes < 1024) {
    std::snprintf(text, sizeof(text), "%zu bytes", bytes);
  } else if (bytes < kMiB) {
    std::snprintf(text, sizeof(text), "%.2f KiB", static_cast<double>(bytes) / 1024);
  } else if (bytes < 1024 * kMiB) {
    std::snprintf(text, sizeof(text), "%.2f MiB", static_cast<double>(bytes) / kMiB);
  } else {
    std::snprintf(text, sizeof(text), "%.2f GiB", static_cast<double>(bytes) / (1024 * kMiB));
  }
  return text;
}

std::pair<size_t, size_t> memory_info() {
  size_t free = 0;
  size_t total = 0;
  ANVIL_CHECK(runtime::table().cudaMemGetInfo(&free, &total));
  return {free, total};
}

}  // namespace

Block* DeviceCachingAllocator::allocate_segment(size_t size,
                                                size_t requested,
                                                cudaStream_t stream,
                                                Usage* usage) {
  const BlockingRegion region;
  mark_used(device_);
  const size_t bytes = segment_size(size);
  const bool is_small = size <= kSmallSize;
  if (Config::garbage_collection_threshold() > 0) {
    collect_garbage(bytes);
  }
  char* pointer = ask_driver(bytes, is_small);
  if (pointer == nullptr && release_oversize(bytes)) {
    pointer = ask_driver(bytes, is_small);
  }
  if (pointer == nullptr) {
    {
      const Lock lock(mutex_);
      ++stats_.num_alloc_retries;
    }
    empty_cache();
    pointer = ask_driver(bytes, is_small);
  }
  if (pointer == nullptr) {
    throw_out_of_memory(requested, bytes);
  }

  const Lock lock(mutex_);
  FreeBlocks& pool = pool_for(stream, is_small);
  Block* block = arena_.make();
  block->pointer = pointer;
  block->size = bytes;
  block->pool = &pool;
  block->stream = stream;
  block->device = device_;
  segments_.insert(block);
  Counter(stats_.segment, pool.is_small()).increase(1);
  if (bytes >= Config::max_split_size()) {
    stats_.oversize_segments.increase(1);
  }
  hand_out(block, size, requested);
  *usage = this->usage();
  return block;
}

char* DeviceCachingAllocator::ask_driver(size_t bytes, bool is_small) {
  {
    // Reserved before the call, so that threads together keep to the fraction.
    const Lock lock(mutex_);
    if (static_cast<size_t>(current(stats_.reserved_bytes)) + bytes > allowed_bytes_) {
      return nullptr;
    }
    Counter(stats_.reserved_bytes, is_small).increase(bytes);
    ++stats_.num_device_alloc;
  }
  void* pointer = nullptr;
  const cudaError_t code = runtime::table().cudaMalloc(&pointer, bytes);
  if (code == cudaSuccess) {
    return static_cast<char*>(pointer);
  }
  {
    const Lock lock(mutex_);
    Counter(stats_.reserved_bytes, is_small).decrease(bytes);
    --stats_.num_device_alloc;
  }
  if (code != cudaErrorMemoryAllocation) {
    detail::throw_accelerator_error(code, "cudaMalloc(&pointer, bytes)");
  }
  runtime::ignore(code);
  return nullptr;
}

std::vector<Block*> DeviceCachingAllocator::free_segments() const {
  std::vector<Block*> found;
  for (Block* segment : segments_) {
    if (segment->is_free() && !segment->is_split()) {
      found.push_back(segment);
    }
  }
  return found;
}

char* DeviceCachingAllocator::remove_segment(Block* segment) {
  char* pointer = segment->pointer;
  const bool is_small = segment->pool->is_small();
  segment->pool->remove(segment);
  Counter(stats_.segment, is_small).decrease(1);
  Counter(stats_.reserved_bytes, is_small).decrease(segment->size);
  if (segment->size >= Config::max_split_size()) {
    stats_.oversize_segments.decrease(1);
  }
  ++stats_.num_device_free;
  segments_.erase(segment);
  arena_.recycle(segment);
  return pointer;
}

void DeviceCachingAllocator::give_back(const std::vector<char*>& segments) {
  if (segments.empty()) {
    return;
  }
  const DeviceGuard guard(c10::Device(kDeviceType, device_));
  for (char* segment : segments) {
    ANVIL_CHECK(runtime::table().cudaFree(segment));
  }
}

void DeviceCachingAllocator::collect_garbage(size_t bytes) {
  std::vector<char*> removed;
  const size_t total = memory_info().second;
  {
    const Lock lock(mutex_);
    const auto threshold =
        static_cast<size_t>(Config::garbage_collection_threshold() *
                            static_cast<double>(std::min(total, allowed_bytes_)));
    size_t wanted = static_cast<size_t>(current(stats_.reserved_bytes)) + bytes;
    std::vector<Block*> oldest = free_segments();
    std::sort(oldest.begin(), oldest.end(),
              [](const Block* a, const Block* b) { return a->freed_at < b->freed_at; });
    for (Block* segment : oldest) {
      if (wanted <= threshold) {
        break;
      }
      wanted -= segment->size;
      removed.push_back(remove_segment(segment));
    }
  }
  give_back(removed);
}

bool DeviceCachingAllocator::release_oversize(size_t bytes) {
  // A cached segment above max_split_size may be large enough, but too large to
  // be handed out for this request.
  if (Config::max_split_size() == SIZE_MAX) {
    return false;
  }
  std::vector<char*> removed;
  size_t sum = 0;
  {
    const Lock lock(mutex_);
    std::vector<Block*> largest = free_segments();
    std::sort(largest.begin(), largest.end(),
              [](const Block* a, const Block* b) { return a->size > b->size; });
    for (Block* segment : largest) {
      if (sum >= bytes || segment->size < Config::max_split_size()) {
        break;
      }
      sum += segment->size;
      removed.push_back(remove_segment(segment));
    }
  }
  give_back(removed);
  return sum >= bytes;
}

void DeviceCachingAllocator::wait_for_pending() {
  std::deque<PendingQueue> pending;
  {
    const Lock lock(mutex_);
    pending = std::exchange(pending_, {});
    pending_count_ = 0;
    ++stats_.num_sync_all_streams;
  }
  for (const PendingQueue& queue : pending) {
    for (const auto& entry : queue.events) {
      // A failed stream's work is over, too; its error is raised by the next
      // synchronisation.
      runtime::ignore(runtime::table().cudaEventSynchronize(entry.first.event()));
    }
  }
  const Lock lock(mutex_);
  for (const PendingQueue& queue : pending) {
    for (const auto& entry : queue.events) {
      finish_event(entry.second);
    }
  }
}

void DeviceCachingAllocator::empty_cache() {
  const BlockingRegion region;
  wait_for_pending();
  std::vector<char*> removed;
  {
    const Lock lock(mutex_);
    for (Block* segment : free_segments()) {
      removed.push_back(remove_segment(segment));
    }
  }
  give_back(removed);
}

void DeviceCachingAllocator::throw_out_of_memory(size_t requested, size_t segment) {
  const auto [free, total] = memory_info();
  size_t allocated = 0;
  size_t reserved = 0;
  size_t allowed = SIZE_MAX;
  {
    const Lock lock(mutex_);
    ++stats_.num_ooms;
    allocated = static_cast<size_t>(current(stats_.allocated_bytes));
    reserved = static_cast<size_t>(current(stats_.reserved_bytes));
    allowed = allowed_bytes_;
  }
  c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(requested), allocated, reserved,
                                   c10::Device(kDeviceType, device_));
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, "anvil out of memory. Tried to allocate ", in_units(requested),
      " (a segment of ", in_units(segment), ") on anvil:", static_cast<int>(device_),
      ", which has ", in_units(total), " in total, of which ", in_units(free), " is free.",
      allowed < total
          ? " This process may reserve " + in_units(allowed) + " (set_per_process_memory_fraction)."
          : std::string(),
      " Tensors hold ", in_units(allocated), "; the caching allocator reserves ",
      in_units(reserved), ", of which ", in_units(reserved - allocated),
      " is unused. Make batches smaller or delete tensors; if much is reserved but unused, set "
      "PYTORCH_ALLOC_CONF=max_split_size_mb:<size> or call torch.accelerator.empty_cache() "
      "earlier.");
}

void DeviceCachingAllocator::set_memory_fraction(double fraction) {
  TORCH_CHECK(fraction > 0 && fraction <= 1,
              "the fraction of a device's memory must be in (0, 1], "
              "but got ",
              fraction);
  const DeviceGuard guard(c10::Device(kDeviceType, device_));
  mark_used(device_);
  const size_t total = memory_info().second;
  const Lock lock(mutex_);
  memory_fraction_ = fraction;
  allowed_bytes_ = static_cast<size_t>(fraction * static_cast<double>(total));
}

double DeviceCachingAllocator::memory_fraction() {
  const Lock lock(mutex_);
  return memory_fraction_;
}

}  // namespace anvil::allocator
