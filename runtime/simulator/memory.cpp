#include "runtime/simulator/memory.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/poison.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

struct Block {
  size_t bytes;     // as asked for
  size_t reserved;  // whole pages
};

struct HostBlock {
  size_t bytes;
  int device;
  unsigned flags;
  bool registered;
};

struct Freed {
  char* begin;
  size_t bytes;
};

struct DeviceMemory {
  size_t used = 0;
  std::map<char*, size_t> gaps;  // free addresses
};

constexpr size_t kFreedKept = 256;
constexpr size_t kMostGarbage = size_t{64} << 20;

struct Memory {
  std::mutex mutex;
  std::map<char*, Block> blocks;  // of all devices, by device address
  std::map<char*, HostBlock> host_blocks;
  DeviceMemory devices[kMaxDevices];
  Freed freed[kFreedKept] = {};  // the latest, as a ring
  size_t freed_count = 0;
};

constinit Memory* memory = nullptr;

size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

template <class Map>
auto find_range(Map& map, const void* pointer) {
  auto found = map.upper_bound(const_cast<char*>(static_cast<const char*>(pointer)));
  if (found == map.begin()) {
    return map.end();
  }
  --found;
  return static_cast<const char*>(pointer) < found->first + found->second.bytes ? found : map.end();
}

// A range of addresses with a closed page behind it, so that a kernel that
// runs over the end of one allocation does not reach the next.
char* take_addresses(DeviceMemory& device, size_t bytes) {
  const size_t wanted = bytes + kPage;
  for (auto gap = device.gaps.begin(); gap != device.gaps.end(); ++gap) {
    if (gap->second >= wanted) {
      const auto [begin, size] = *gap;
      device.gaps.erase(gap);
      if (size > wanted) {
        device.gaps.emplace(begin + wanted, size - wanted);
      }
      return begin;
    }
  }
  return nullptr;
}

void give_addresses(DeviceMemory& device, char* begin, size_t bytes) {
  size_t size = bytes + kPage;
  auto next = device.gaps.lower_bound(begin);
  if (next != device.gaps.end() && begin + size == next->first) {
    size += next->second;
    next = device.gaps.erase(next);
  }
  if (next != device.gaps.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      previous->second += size;
      return;
    }
  }
  device.gaps.emplace(begin, size);
}

Location host_location(const std::pair<char* const, HostBlock>& entry) {
  const HostBlock& block = entry.second;
  return {block.registered ? Place::kRegistered : Place::kPinned, block.device, entry.first,
          block.bytes, block.flags};
}

Location locate_locked(const void* pointer) {
  const int device = device_of(pointer);
  if (device >= 0) {
    const auto found = find_range(memory->blocks, pointer);
    if (found == memory->blocks.end()) {
      return {Place::kUnallocated, device};
    }
    return {Place::kDevice, device, found->first, found->second.bytes};
  }
  const auto found = find_range(memory->host_blocks, pointer);
  return found == memory->host_blocks.end() ? Location{} : host_location(*found);
}

cudaError_t allocate(int device, size_t bytes, void** pointer) {
  const std::lock_guard lock(memory->mutex);
  DeviceMemory& own = memory->devices[device];
  if (bytes > config.memory || pages(bytes) > config.memory - own.used) {
    return cudaErrorMemoryAllocation;
  }
  const size_t reserved = pages(bytes);
  char* begin = take_addresses(own, reserved);
  if (begin == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  if (!commit(begin, reserved)) {
    give_addresses(own, begin, reserved);
    return cudaErrorMemoryAllocation;
  }
  if (config.adversarial) {
    // On a GPU new memory holds anything; these bytes are NaN in every float type.
    std::memset(kernel_view(begin), 0xff, std::min(bytes, kMostGarbage));
  }
  ASAN_POISON_MEMORY_REGION(kernel_view(begin) + bytes, reserved - bytes);
  own.used += reserved;
  memory->blocks.emplace(begin, Block{bytes, reserved});
  *pointer = begin;
  return cudaSuccess;
}

cudaError_t release(char* begin) {
  const std::lock_guard lock(memory->mutex);
  const auto found = memory->blocks.find(begin);
  if (found == memory->blocks.end()) {
    return cudaErrorInvalidValue;
  }
  const Block block = found->second;
  memory->blocks.erase(found);
  memory->freed[memory->freed_count++ % kFreedKept] = {begin, block.bytes};
  ASAN_UNPOISON_MEMORY_REGION(kernel_view(begin), block.reserved);
  punch(begin, block.reserved);
  DeviceMemory& own = memory->devices[device_of(begin)];
  own.used -= block.reserved;
  give_addresses(own, begin, block.reserved);
  return cudaSuccess;
}

}  // namespace

void make_memory() {
  memory = new Memory;
  for (int device = 0; device < config.devices; ++device) {
    memory->devices[device].gaps.emplace(
        address_space.begin + device * address_space.bytes_per_device,
        address_space.bytes_per_device);
  }
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

ANVIL_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return api([&](Thread& thread) {
    if (pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t failed = failure(thread.device)) {
      return failed;
    }
    if (bytes == 0) {
      *pointer = nullptr;
      return cudaSuccess;
    }
    return allocate(thread.device, bytes, pointer);
  });
}

// Waits for the device, as CUDA's implementation does: kernels in flight may
// use the memory.
ANVIL_EXPORT cudaError_t cudaFree(void* pointer) {
  return api([&](Thread&) {
    if (pointer == nullptr) {
      return cudaSuccess;
    }
    const Location location = locate(pointer);
    if (location.place != Place::kDevice || location.begin != pointer) {
      return cudaErrorInvalidValue;
    }
    wait_for_all_devices();
    const cudaError_t failed = failure(location.device);
    const cudaError_t code = release(location.begin);
    return failed != cudaSuccess ? failed : code;
  });
}

ANVIL_EXPORT cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api([&](Thread& thread) {
    if (const cudaError_t failed = failure(thread.device)) {
      return failed;
    }
    const std::lock_guard lock(memory->mutex);
    if (free != nullptr) {
      *free = config.memory - memory->devices[thread.device].used;
    }
    if (total != nullptr) {
      *total = config.memory;
    }
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return api([&](Thread& thread) {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (pointer == nullptr || (flags & ~kKnown) != 0) {
      return cudaErrorInvalidValue;
    }
    *pointer = nullptr;
    if (bytes == 0) {
      return cudaSuccess;
    }
    if (bytes > SIZE_MAX - kPage) {
      return cudaErrorMemoryAllocation;
    }
    void* block = std::aligned_alloc(kPage, pages(bytes));
    if (block == nullptr) {
      return cudaErrorMemoryAllocation;
    }
    ASAN_POISON_MEMORY_REGION(static_cast<char*>(block) + bytes, pages(bytes) - bytes);
    const std::lock_guard lock(memory->mutex);
    memory->host_blocks.emplace(static_cast<char*>(block),
                                HostBlock{bytes, thread.device, flags, false});
    *pointer = block;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

ANVIL_EXPORT cudaError_t cudaFreeHost(void* pointer) {
  return api([&](Thread&) {
    if (pointer == nullptr) {
      return cudaSuccess;
    }
    if (const Location location = locate(pointer);
        location.place != Place::kPinned || location.begin != pointer) {
      return cudaErrorInvalidValue;
    }
    wait_for_all_devices();
    {
      const std::lock_guard lock(memory->mutex);
      const auto found = memory->host_blocks.find(static_cast<char*>(pointer));
      if (found == memory->host_blocks.end()) {
        return cudaErrorInvalidValue;
      }
      ASAN_UNPOISON_MEMORY_REGION(pointer, pages(found->second.bytes));
      memory->host_blocks.erase(found);
    }
    std::free(pointer);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return api([&](Thread& thread) {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (pointer == nullptr || bytes == 0) {
      return cudaErrorInvalidValue;
    }
    if ((flags & ~kKnown) != 0) {
      return cudaErrorNotSupported;
    }
    if (device_of(pointer) >= 0) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(memory->mutex);
    char* begin = static_cast<char*>(pointer);
    const auto next = memory->host_blocks.lower_bound(begin);
    if (find_range(memory->host_blocks, begin) != memory->host_blocks.end() ||
        (next != memory->host_blocks.end() && next->first < begin + bytes)) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    memory->host_blocks.emplace(begin, HostBlock{bytes, thread.device, flags, true});
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostUnregister(void* pointer) {
  return api([&](Thread&) {
    if (pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    wait_for_all_devices();
    const std::lock_guard lock(memory->mutex);
    const auto found = memory->host_blocks.find(static_cast<char*>(pointer));
    if (found == memory->host_blocks.end() || !found->second.registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    memory->host_blocks.erase(found);
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
