// The paths that every allocation takes; what asks the driver is in
// DeviceSegments.cpp.
#include "backend/allocator/DeviceCachingAllocator.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "backend/allocator/Sizes.h"

namespace anvil::allocator {

Block* DeviceCachingAllocator::allocate(size_t bytes, cudaStream_t stream, Usage* usage) {
  TORCH_CHECK_WITH(OutOfMemoryError, bytes < (size_t{1} << 60),
                   "Tried to allocate more than 1 EiB of memory on anvil:",
                   static_cast<int>(device_), ": ", bytes, " bytes.");
  const size_t size = block_size(bytes);
  {
    const Lock lock(mutex_);
    if (pending_count_ > 0) [[unlikely]] {
      process_events();
    }
    if (Block* block = take_cached(pool_for(stream, size <= kSmallSize), size)) [[likely]] {
      hand_out(block, size, bytes);
      *usage = this->usage();
      return block;
    }
  }
  return allocate_segment(size, bytes, stream, usage);
}

FreeBlocks& DeviceCachingAllocator::pool_for(cudaStream_t stream, bool is_small) {
  if (last_pool_ == nullptr || last_pool_->stream != stream) [[unlikely]] {
    auto found = std::find_if(pools_.begin(), pools_.end(),
                              [&](const auto& pool) { return pool->stream == stream; });
    if (found == pools_.end()) {
      found = pools_.insert(found, std::make_unique<StreamPool>(stream));
    }
    last_pool_ = found->get();
  }
  return is_small ? last_pool_->small : last_pool_->large;
}

Block* DeviceCachingAllocator::take_cached(FreeBlocks& pool, size_t size) {
  Block* block = pool.best_fit(size);
  if (block == nullptr) {
    return nullptr;
  }
  if (!pool.is_small()) {
    // Blocks above max_split_size are kept for requests of about their size.
    const size_t limit = Config::max_split_size();
    if (size < limit ? block->size >= limit
                     : block->size - size >= Config::max_non_split_rounding_size()) {
      return nullptr;
    }
  }
  pool.remove(block);
  return block;
}

bool DeviceCachingAllocator::should_split(const Block* block, size_t size) const {
  const size_t rest = block->size - size;
  if (block->pool->is_small()) {
    return rest >= kMinBlockSize;
  }
  return size < Config::max_split_size() && rest > kSmallSize;
}

void DeviceCachingAllocator::hand_out(Block* block, size_t size, size_t requested) {
  const bool is_small = block->pool->is_small();
  const bool was_split = block->is_split();
  Counter split(stats_.inactive_split, is_small);
  Counter split_bytes(stats_.inactive_split_bytes, is_small);
  if (should_split(block, size)) {
    Block* rest = arena_.make();
    rest->pointer = block->pointer + size;
    rest->size = block->size - size;
    rest->pool = block->pool;
    rest->stream = block->stream;
    rest->device = block->device;
    rest->freed_at = block->freed_at;
    rest->previous = block;
    rest->next = block->next;
    if (rest->next != nullptr) {
      rest->next->previous = rest;
    }
    block->next = rest;
    block->size = size;
    block->pool->insert(rest);
    if (was_split) {
      split_bytes.decrease(size);
    } else {
      split.increase(1);
      split_bytes.increase(rest->size);
    }
  } else if (was_split) {
    split.decrease(1);
    split_bytes.decrease(block->size);
  }

  block->allocated = true;
  block->requested = requested;
  Counter(stats_.allocation, is_small).increase(1);
  Counter(stats_.allocated_bytes, is_small).increase(block->size);
  Counter(stats_.active, is_small).increase(1);
  Counter(stats_.active_bytes, is_small).increase(block->size);
  Counter(stats_.requested_bytes, is_small).increase(requested);
  if (!is_small && block->size >= Config::max_split_size()) {
    stats_.oversize_allocations.increase(1);
  }
}

void DeviceCachingAllocator::free(Block* block, Usage* usage) {
  const Lock lock(mutex_);
  const bool is_small = block->pool->is_small();
  block->allocated = false;
  Counter(stats_.allocation, is_small).decrease(1);
  Counter(stats_.allocated_bytes, is_small).decrease(block->size);
  if (!is_small && block->size >= Config::max_split_size()) {
    stats_.oversize_allocations.decrease(1);
  }
  if (block->other_streams.empty()) [[likely]] {
    make_free(block);
  } else {
    record_pending_events(block);
  }
  *usage = this->usage();
}

void DeviceCachingAllocator::make_free(Block* block) {
  FreeBlocks& pool = *block->pool;
  Counter(stats_.active, pool.is_small()).decrease(1);
  Counter(stats_.active_bytes, pool.is_small()).decrease(block->size);
  Counter(stats_.requested_bytes, pool.is_small()).decrease(block->requested);
  block->requested = 0;

  int64_t split_change = 0;
  int64_t split_bytes_change = 0;
  if (Block* above = block->next; above != nullptr && above->is_free()) {
    pool.remove(above);
    --split_change;
    split_bytes_change -= static_cast<int64_t>(above->size);
    block->size += above->size;
    block->next = above->next;
    if (block->next != nullptr) {
      block->next->previous = block;
    }
    arena_.recycle(above);
  }
  if (Block* below = block->previous; below != nullptr && below->is_free()) {
    pool.remove(below);
    --split_change;
    split_bytes_change -= static_cast<int64_t>(below->size);
    below->size += block->size;
    below->next = block->next;
    if (below->next != nullptr) {
      below->next->previous = below;
    }
    arena_.recycle(block);
    block = below;
  }
  block->freed_at = ++clock_;
  pool.insert(block);
  if (block->is_split()) {
    ++split_change;
    split_bytes_change += static_cast<int64_t>(block->size);
  }
  Counter(stats_.inactive_split, pool.is_small()).change(split_change);
  Counter(stats_.inactive_split_bytes, pool.is_small()).change(split_bytes_change);
}

void DeviceCachingAllocator::record_stream(Block* block, Stream stream) {
  if (stream.device_index() == device_ && stream.stream() == block->stream) {
    return;
  }
  const Lock lock(mutex_);
  auto& others = block->other_streams;
  if (std::find(others.begin(), others.end(), stream) == others.end()) {
    others.push_back(stream);
  }
}

void DeviceCachingAllocator::record_pending_events(Block* block) {
  // Counted before recording: if the driver refuses an event, the block stays
  // pending for ever, which is safe.
  const std::vector<Stream> streams = std::move(block->other_streams);
  block->other_streams.clear();
  block->pending_events = static_cast<uint32_t>(streams.size());
  for (const Stream stream : streams) {
    Event event;
    if (stream.device_index() == device_ && !spare_events_.empty()) {
      event = std::move(spare_events_.back());
      spare_events_.pop_back();
    }
    event.record(stream);
    auto queue = std::find_if(pending_.begin(), pending_.end(),
                              [&](const PendingQueue& entry) { return entry.stream == stream; });
    if (queue == pending_.end()) {
      queue = pending_.emplace(pending_.end(), PendingQueue{stream, {}});
    }
    queue->events.emplace_back(std::move(event), block);
    ++pending_count_;
  }
}

void DeviceCachingAllocator::process_events() {
  for (PendingQueue& queue : pending_) {
    while (!queue.events.empty() && queue.events.front().first.query()) {
      auto [event, block] = std::move(queue.events.front());
      queue.events.pop_front();
      --pending_count_;
      if (event.device_index() == device_) {
        spare_events_.push_back(std::move(event));
      }
      finish_event(block);
    }
  }
}

void DeviceCachingAllocator::finish_event(Block* block) {
  if (--block->pending_events == 0) {
    make_free(block);
  }
}

Usage DeviceCachingAllocator::usage() const {
  return {current(stats_.allocated_bytes), current(stats_.reserved_bytes)};
}

}  // namespace anvil::allocator
