// Device allocations and pinned host memory: what each address is.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace anvil::simulator {

enum class Place { kPageable, kPinned, kRegistered, kManaged, kDevice, kUnallocated };

// What an address is. For kUnallocated (a device address that is in no live
// allocation) only `device` is set, for kPageable nothing.
struct Location {
  Place place = Place::kPageable;
  int device = -1;        // owner; for pinned memory the device that was current
  char* begin = nullptr;  // of the allocation
  size_t bytes = 0;       // of the allocation, as asked for
  unsigned flags = 0;     // of pinned and registered memory

  bool on_host() const { return place != Place::kDevice && place != Place::kUnallocated; }
  // [pointer, pointer + count) lies inside the allocation.
  bool holds(const void* pointer, size_t count) const {
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(begin);
    return offset <= bytes && count <= bytes - offset;
  }
};

void make_memory();

// Any thread.
Location locate(const void* pointer);

// As `locate` for device addresses, for the fault handler: never waits long and
// never allocates. False if the table was busy. `freed` is true if the address
// was part of a recent allocation that was freed, which is then described.
bool locate_for_report(const void* pointer, Location* location, bool* freed);

}  // namespace anvil::simulator
