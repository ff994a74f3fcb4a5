#include "runtime/simulator/driver/virtual_memory.h"

#include <unistd.h>

#include <cstring>
#include <iterator>
#include <map>
#include <unordered_set>

#include "runtime/simulator/allocations.h"
#include "runtime/simulator/driver/driver.h"
#include "runtime/simulator/engine.h"

namespace anvil::simulator {
namespace {

struct Mapping {
  size_t bytes;
  PhysicalMemory* physical;
  bool accessible;
};

// Guarded by the lock of the allocation table.
struct State {
  std::map<char*, size_t> reservations;
  std::map<char*, Mapping> mappings;
  std::unordered_set<PhysicalMemory*> handles;
};

State& state() {
  static State* state = new State;
  return *state;
}

char* address(CUdeviceptr pointer) { return reinterpret_cast<char*>(pointer); }

bool whole_steps(size_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

void drop_reference(PhysicalMemory* physical) {
  if (--physical->references > 0) {
    return;
  }
  if (physical->imported) {
    close(physical->range.file);
  } else {
    DeviceMemory& own = memory->devices[physical->properties.location.id];
    punch(physical->range);
    own.virtual_half.give(physical->range.offset, physical->range.bytes);
    own.used -= physical->range.bytes;
  }
  delete physical;
}

// The first and the one past the last mapping of [begin, begin + bytes), which
// must consist of whole mappings without gaps. False if it does not.
using Mappings = std::map<char*, Mapping>;
bool whole_mappings(char* begin, size_t bytes, Mappings::iterator* first, Mappings::iterator* end) {
  *first = state().mappings.find(begin);
  char* next = begin;
  for (*end = *first;
       *end != state().mappings.end() && (*end)->first == next && next < begin + bytes; ++*end) {
    next += (*end)->second.bytes;
  }
  return bytes > 0 && next == begin + bytes;
}

// In the allocation table neighbouring accessible mappings of one device are one
// block: a tensor may lie across them.
void make_accessible(char* begin, Mapping& mapping) {
  if (mapping.accessible) {
    return;
  }
  mapping.accessible = true;
  Block block{mapping.bytes, mapping.bytes, mapping.physical->properties.location.id,
              Origin::kMapped};
  const auto joins = [&](const Block& other) {
    return other.origin == Origin::kMapped && other.device == block.device;
  };
  const auto grow = [&](const Block& other) {
    block.bytes += other.bytes;
    block.reserved += other.reserved;
  };
  auto next = memory->blocks.find(begin + mapping.bytes);
  if (next != memory->blocks.end() && joins(next->second)) {
    grow(next->second);
    memory->blocks.erase(next);
  }
  const auto before = find_range(memory->blocks, begin - 1);
  if (before != memory->blocks.end() && joins(before->second)) {
    grow(before->second);
    before->second = block;
  } else {
    memory->blocks.emplace(begin, block);
  }
}

void make_inaccessible(char* begin, Mapping& mapping) {
  if (!mapping.accessible) {
    return;
  }
  mapping.accessible = false;
  const auto found = find_range(memory->blocks, begin);
  char* const block_begin = found->first;
  const Block block = found->second;
  memory->blocks.erase(found);
  const auto keep = [&](char* part, size_t bytes) {
    if (bytes > 0) {
      memory->blocks.emplace(part, Block{bytes, bytes, block.device, block.origin});
    }
  };
  char* const end = begin + mapping.bytes;
  keep(block_begin, begin - block_begin);
  keep(end, block_begin + block.bytes - end);
  memory->freed[memory->freed_count++ % kFreedKept] = {begin, mapping.bytes};
}

}  // namespace

CUmemGenericAllocationHandle handle_of(PhysicalMemory* physical) {
  state().handles.insert(physical);
  return reinterpret_cast<CUmemGenericAllocationHandle>(physical);
}

PhysicalMemory* find_physical(CUmemGenericAllocationHandle handle) {
  PhysicalMemory* physical = reinterpret_cast<PhysicalMemory*>(handle);
  return state().handles.contains(physical) ? physical : nullptr;
}

ANVIL_EXPORT CUresult cuMemGetAllocationGranularity(size_t* granularity,
                                                    const CUmemAllocationProp* properties,
                                                    CUmemAllocationGranularity_flags) {
  return driver([&](Thread&) {
    if (granularity == nullptr || properties == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *granularity = kGranularity;
    return CUDA_SUCCESS;
  });
}

// The address that the caller would like is not looked at, as CUDA allows.
ANVIL_EXPORT CUresult cuMemAddressReserve(
    CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr, unsigned long long flags) {
  return driver([&](Thread&) {
    if (pointer == nullptr || !whole_steps(bytes) || flags != 0 ||
        (alignment & (alignment - 1)) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::lock_guard lock(memory->mutex);
    size_t offset = 0;
    if (!memory->virtual_addresses.take(bytes, kGranularity, &offset)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    char* const begin = address_space.begin + offset;
    state().reservations.emplace(begin, bytes);
    *pointer = reinterpret_cast<CUdeviceptr>(begin);
    return CUDA_SUCCESS;
  });
}

// A whole reservation, in which nothing is mapped.
ANVIL_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return driver([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    const auto found = state().reservations.find(address(pointer));
    if (found == state().reservations.end() || found->second != bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto mapping = state().mappings.lower_bound(address(pointer));
    if (mapping != state().mappings.end() && mapping->first < address(pointer) + bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    state().reservations.erase(found);
    memory->virtual_addresses.give(offset_of(address(pointer)), bytes);
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle,
                                  size_t bytes,
                                  const CUmemAllocationProp* properties,
                                  unsigned long long flags) {
  return driver([&](Thread&) {
    if (handle == nullptr || properties == nullptr || !whole_steps(bytes) || flags != 0 ||
        properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        (properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!is_device(properties->location.id)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    const std::lock_guard lock(memory->mutex);
    DeviceMemory& own = memory->devices[properties->location.id];
    size_t offset = 0;
    if (bytes > config.memory - own.used || !own.virtual_half.take(bytes, kGranularity, &offset)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    own.used += bytes;
    const FileRange half = virtual_half(properties->location.id);
    *handle = handle_of(
        new PhysicalMemory{{half.file, static_cast<off_t>(offset), bytes}, *properties, 1, false});
    return CUDA_SUCCESS;
  });
}

// The memory lives on while it is mapped.
ANVIL_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    PhysicalMemory* physical = find_physical(handle);
    if (physical == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (physical->references == 1) {
      state().handles.erase(physical);
    }
    drop_reference(physical);
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                  void* pointer) {
  return driver([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    const auto found = find_range(state().mappings, pointer);
    if (handle == nullptr || found == state().mappings.end()) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    ++found->second.physical->references;
    *handle = handle_of(found->second.physical);
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                             CUmemGenericAllocationHandle handle) {
  return driver([&](Thread&) {
    const std::lock_guard lock(memory->mutex);
    const PhysicalMemory* physical = find_physical(handle);
    if (properties == nullptr || physical == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *properties = physical->properties;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuMemMap(CUdeviceptr pointer,
                               size_t bytes,
                               size_t offset,
                               CUmemGenericAllocationHandle handle,
                               unsigned long long flags) {
  return driver([&](Thread&) {
    char* const begin = address(pointer);
    const std::lock_guard lock(memory->mutex);
    PhysicalMemory* physical = find_physical(handle);
    if (physical == nullptr || flags != 0 || offset != 0 || bytes != physical->range.bytes ||
        pointer % kGranularity != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto reservation = state().reservations.upper_bound(begin);
    if (reservation == state().reservations.begin() ||
        (--reservation)->first + reservation->second < begin + bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto next = state().mappings.lower_bound(begin);
    if (find_range(state().mappings, begin) != state().mappings.end() ||
        (next != state().mappings.end() && next->first < begin + bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!map(begin, physical->range)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    ++physical->references;
    state().mappings.emplace(begin, Mapping{bytes, physical, false});
    return CUDA_SUCCESS;
  });
}

// Work that is queued may use the memory, so it is waited for.
ANVIL_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return driver([&](Thread&) {
    wait_for_all_devices();
    const std::lock_guard lock(memory->mutex);
    Mappings::iterator first, end;
    if (!whole_mappings(address(pointer), bytes, &first, &end)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (auto mapping = first; mapping != end; ++mapping) {
      make_inaccessible(mapping->first, mapping->second);
      unmap(mapping->first, mapping->second.bytes);
      PhysicalMemory* physical = mapping->second.physical;
      if (physical->references == 1) {
        state().handles.erase(physical);
      }
      drop_reference(physical);
    }
    state().mappings.erase(first, end);
    return CUDA_SUCCESS;
  });
}

// Access is not kept apart by device: what one may use, all may.
ANVIL_EXPORT CUresult cuMemSetAccess(CUdeviceptr pointer,
                                     size_t bytes,
                                     const CUmemAccessDesc* access,
                                     size_t count) {
  return driver([&](Thread&) {
    if (access == nullptr || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    bool open = false;
    for (size_t i = 0; i < count; ++i) {
      if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return CUDA_ERROR_NOT_SUPPORTED;
      }
      if (!is_device(access[i].location.id)) {
        return CUDA_ERROR_INVALID_DEVICE;
      }
      open = open || access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    }
    const std::lock_guard lock(memory->mutex);
    Mappings::iterator first, end;
    if (!whole_mappings(address(pointer), bytes, &first, &end)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (auto mapping = first; mapping != end; ++mapping) {
      if (!open) {
        make_inaccessible(mapping->first, mapping->second);
        map(mapping->first, mapping->second.physical->range);
        continue;
      }
      const bool before = mapping->second.accessible;
      if (!before && !commit(mapping->first, mapping->second.bytes)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
      }
      make_accessible(mapping->first, mapping->second);
      if (!before && !mapping->second.physical->imported) {
        spoil(mapping->first, mapping->second.bytes);
      }
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace anvil::simulator
