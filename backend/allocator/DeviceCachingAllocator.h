// The caching allocator of one device.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/Event.h"
#include "backend/Stream.h"
#include "backend/allocator/Block.h"
#include "backend/allocator/FreeBlocks.h"
#include "backend/allocator/Statistics.h"

namespace anvil::allocator {

// Memory in use, for the profiler.
struct Usage {
  int64_t allocated = 0;  // bytes
  int64_t reserved = 0;   // bytes
};

// Note [Allocator locking]: one mutex guards all state. No call that may wait
// for the device (cudaMalloc, cudaFree, event synchronisation) is made while it
// is held, since a thread that holds the GIL may want the mutex, and work in a
// stream may want the GIL.
class DeviceCachingAllocator {
 public:
  explicit DeviceCachingAllocator(c10::DeviceIndex device) : device_(device) {}

  // A block of at least `bytes` > 0 bytes for use on `stream`; the device is
  // current. Throws c10::OutOfMemoryError after all cached memory was given
  // back and the driver still had none; every block stays valid then.
  Block* allocate(size_t bytes, cudaStream_t stream, Usage* usage);

  // Gives an allocated block back. Does not wait.
  void free(Block* block, Usage* usage);

  // The block is not reused before the work that `stream` has when it is freed.
  void record_stream(Block* block, Stream stream);

  // Gives all free segments back to the driver; waits for pending blocks.
  void empty_cache();

  DeviceStats stats();
  void reset_accumulated_stats();
  void reset_peak_stats();
  std::vector<c10::CachingDeviceAllocator::SegmentInfo> snapshot();

  // At most this part of the device's memory is reserved; in (0, 1].
  void set_memory_fraction(double fraction);
  double memory_fraction();

 private:
  struct StreamPool {
    explicit StreamPool(cudaStream_t handle) : stream(handle) {}
    cudaStream_t stream;
    FreeBlocks small{true};
    FreeBlocks large{false};
  };
  // Freed blocks that `stream` may still use, in the order of its work.
  struct PendingQueue {
    Stream stream;
    std::deque<std::pair<Event, Block*>> events;
  };
  using Lock = std::unique_lock<std::mutex>;

  // With the mutex held:
  FreeBlocks& pool_for(cudaStream_t stream, bool is_small);
  Block* take_cached(FreeBlocks& pool, size_t size);
  void hand_out(Block* block, size_t size, size_t requested);
  bool should_split(const Block* block, size_t size) const;
  void make_free(Block* block);
  void record_pending_events(Block* block);
  void process_events();
  void finish_event(Block* block);
  std::vector<Block*> free_segments() const;
  char* remove_segment(Block* segment);
  Usage usage() const;

  // Without it:
  Block* allocate_segment(size_t size, size_t requested, cudaStream_t stream, Usage* usage);
  char* ask_driver(size_t bytes, bool is_small);
  void collect_garbage(size_t bytes);
  bool release_oversize(size_t bytes);
  void wait_for_pending();
  void give_back(const std::vector<char*>& segments);
  [[noreturn]] void throw_out_of_memory(size_t requested, size_t segment);

  const c10::DeviceIndex device_;
  std::mutex mutex_;
  BlockArena arena_;
  std::vector<std::unique_ptr<StreamPool>> pools_;
  StreamPool* last_pool_ = nullptr;      // of the stream that asked last
  std::unordered_set<Block*> segments_;  // the first block of each
  std::deque<PendingQueue> pending_;
  size_t pending_count_ = 0;
  std::vector<Event> spare_events_;
  DeviceStats stats_;
  uint64_t clock_ = 0;  // counts blocks that were freed
  double memory_fraction_ = 1.0;
  size_t allowed_bytes_ = SIZE_MAX;
};

}  // namespace anvil::allocator
