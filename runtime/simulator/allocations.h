// The table of allocations: what stands behind memory.h. Whatever makes or ends
// an allocation uses it; whoever only asks uses memory.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/config.h"
#include "runtime/simulator/memory.h"

namespace anvil::simulator {

// What made an allocation, and so what may end it.
enum class Origin : uint8_t {
  kMalloc,    // cudaMalloc
  kPool,      // cudaMallocAsync
  kFreeing,   // of a pool, until the stream reaches cudaFreeAsync
  kVariable,  // a __device__ variable
  kMapped,    // cuMemSetAccess: a run of mapped memory
  kImported,  // cudaIpcOpenMemHandle
};

struct Block {
  size_t bytes;     // as asked for
  size_t reserved;  // whole pages
  int device;
  Origin origin;
};

struct HostBlock {
  size_t bytes;
  int device;
  unsigned flags;
  bool registered;
  bool managed;  // cudaMallocManaged
};

struct Freed {
  char* begin;
  size_t bytes;
};

// Free addresses or offsets: begin -> size. Neighbours are merged.
class Gaps {
 public:
  void give(size_t begin, size_t bytes);
  // First fit at a multiple of `alignment`. False if there is none.
  bool take(size_t bytes, size_t alignment, size_t* begin);

 private:
  std::map<size_t, size_t> gaps_;
};

struct DeviceMemory {
  size_t used = 0;  // of the device's capacity
  Gaps addresses;
  Gaps virtual_half;  // offsets in the second half of the device's file
};

constexpr size_t kFreedKept = 256;

// Guarded by `mutex`.
struct Memory {
  std::mutex mutex;
  std::map<char*, Block> blocks;  // of all devices, by device address
  std::map<char*, HostBlock> host_blocks;
  DeviceMemory devices[kMaxDevices];
  Gaps virtual_addresses;        // of the virtual part
  Freed freed[kFreedKept] = {};  // the latest, as a ring
  size_t freed_count = 0;
};
extern Memory* memory;

inline size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// The entry that holds the pointer, or the end.
template <class Map>
auto find_range(Map& map, const void* pointer) {
  auto found = map.upper_bound(const_cast<char*>(static_cast<const char*>(pointer)));
  if (found == map.begin()) {
    return map.end();
  }
  --found;
  return static_cast<const char*>(pointer) < found->first + found->second.bytes ? found : map.end();
}

// New memory of a device, or cudaErrorMemoryAllocation. Takes the lock.
cudaError_t allocate(int device, size_t bytes, Origin origin, void** pointer);

// Ends an allocation of `allocate`. Takes the lock.
cudaError_t release(char* begin);

// Takes the block out of the table and remembers it for fault reports. Needs
// the lock.
Block forget(std::map<char*, Block>::iterator block);

// Fills memory that a program did not write yet, under an adversarial schedule:
// on a GPU it holds anything, and these bytes are NaN in every float type.
void spoil(char* device_address, size_t bytes);

}  // namespace anvil::simulator
