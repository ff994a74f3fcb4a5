#include "runtime/simulator/allocations.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "runtime/simulator/poison.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {

constinit Memory* memory = nullptr;

namespace {

constexpr size_t kMostGarbage = size_t{64} << 20;

Location host_location(const std::pair<char* const, HostBlock>& entry) {
  const HostBlock& block = entry.second;
  const Place place = block.registered ? Place::kRegistered
                      : block.managed  ? Place::kManaged
                                       : Place::kPinned;
  return {place, block.device, entry.first, block.bytes, block.flags};
}

Location locate_locked(const void* pointer) {
  if (is_device_address(pointer)) {
    const auto found = find_range(memory->blocks, pointer);
    if (found == memory->blocks.end()) {
      return {Place::kUnallocated, device_of(pointer)};
    }
    return {Place::kDevice, found->second.device, found->first, found->second.bytes};
  }
  const auto found = find_range(memory->host_blocks, pointer);
  return found == memory->host_blocks.end() ? Location{} : host_location(*found);
}

}  // namespace

void Gaps::give(size_t begin, size_t bytes) {
  auto next = gaps_.lower_bound(begin);
  if (next != gaps_.end() && begin + bytes == next->first) {
    bytes += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      previous->second += bytes;
      return;
    }
  }
  gaps_.emplace(begin, bytes);
}

bool Gaps::take(size_t bytes, size_t alignment, size_t* begin) {
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const auto [first, size] = *gap;
    const size_t skipped = -first & (alignment - 1);
    if (size < skipped || size - skipped < bytes) {
      continue;
    }
    gaps_.erase(gap);
    if (skipped > 0) {
      gaps_.emplace(first, skipped);
    }
    if (size - skipped > bytes) {
      gaps_.emplace(first + skipped + bytes, size - skipped - bytes);
    }
    *begin = first + skipped;
    return true;
  }
  return false;
}

void make_memory() {
  memory = new Memory;
  const size_t each = address_space.bytes_per_device;
  for (int device = 0; device < config.devices; ++device) {
    memory->devices[device].addresses.give(device * each, each);
    const FileRange half = virtual_half(device);
    memory->devices[device].virtual_half.give(half.offset, half.bytes);
  }
  if (address_space.bytes > address_space.device_bytes) {
    memory->virtual_addresses.give(address_space.device_bytes,
                                   address_space.bytes - address_space.device_bytes);
  }
}

void spoil(char* device_address, size_t bytes) {
  if (config.adversarial) {
    std::memset(kernel_view(device_address), 0xff, std::min(bytes, kMostGarbage));
  }
}

// A closed page stands behind the allocation, so that a kernel that runs over
// its end does not reach the next.
cudaError_t allocate(int device, size_t bytes, Origin origin, void** pointer) {
  const std::lock_guard lock(memory->mutex);
  DeviceMemory& own = memory->devices[device];
  if (bytes > config.memory || whole_pages(bytes) > config.memory - own.used) {
    return cudaErrorMemoryAllocation;
  }
  const size_t reserved = whole_pages(bytes);
  size_t offset = 0;
  if (!own.addresses.take(reserved + kPage, kPage, &offset)) {
    return cudaErrorMemoryAllocation;
  }
  char* begin = address_space.begin + offset;
  if (!commit(begin, reserved)) {
    own.addresses.give(offset, reserved + kPage);
    return cudaErrorMemoryAllocation;
  }
  spoil(begin, bytes);
  ASAN_POISON_MEMORY_REGION(kernel_view(begin) + bytes, reserved - bytes);
  own.used += reserved;
  memory->blocks.emplace(begin, Block{bytes, reserved, device, origin});
  *pointer = begin;
  return cudaSuccess;
}

Block forget(std::map<char*, Block>::iterator found) {
  const Block block = found->second;
  memory->freed[memory->freed_count++ % kFreedKept] = {found->first, block.bytes};
  memory->blocks.erase(found);
  return block;
}

cudaError_t release(char* begin) {
  const std::lock_guard lock(memory->mutex);
  const auto found = memory->blocks.find(begin);
  if (found == memory->blocks.end()) {
    return cudaErrorInvalidValue;
  }
  const Block block = forget(found);
  ASAN_UNPOISON_MEMORY_REGION(kernel_view(begin), block.reserved);
  punch(begin, block.reserved);
  DeviceMemory& own = memory->devices[block.device];
  own.used -= block.reserved;
  own.addresses.give(offset_of(begin), block.reserved + kPage);
  return cudaSuccess;
}

Location locate(const void* pointer) {
  const std::lock_guard lock(memory->mutex);
  return locate_locked(pointer);
}

bool locate_for_report(const void* pointer, Location* location, bool* freed) {
  for (int attempt = 0; !memory->mutex.try_lock(); ++attempt) {
    if (attempt == 1000) {
      return false;
    }
    sched_yield();
  }
  *location = locate_locked(pointer);
  *freed = false;
  if (location->place == Place::kUnallocated) {
    const size_t kept = memory->freed_count < kFreedKept ? memory->freed_count : kFreedKept;
    for (size_t age = 1; age <= kept && !*freed; ++age) {
      const Freed& block = memory->freed[(memory->freed_count - age) % kFreedKept];
      if (pointer >= block.begin && pointer < block.begin + block.bytes) {
        location->begin = block.begin;
        location->bytes = block.bytes;
        *freed = true;
      }
    }
  }
  memory->mutex.unlock();
  return true;
}

}  // namespace anvil::simulator
