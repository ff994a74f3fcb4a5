// The address space of device memory: a memfd for each device, mapped twice.
//
//   begin                        begin + distance
//   | device 0 | device 1 | ...  | device 0 | device 1 | ... |
//     what cudaMalloc returns;     the kernel view: readable and writable
//     never accessible             where memory is allocated
//
// Pages are backed when a kernel first touches them, so that a device may be
// larger than the machine's memory; they are given back at free.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/config.h"

namespace anvil::simulator {

struct AddressSpace {
  char* begin = nullptr;
  size_t bytes_per_device = 0;  // of addresses; more than the device's memory
  size_t bytes = 0;             // of all devices
  ptrdiff_t distance = 0;       // kernel address - device address
};
extern AddressSpace address_space;

constexpr size_t kPage = 4096;

// Makes the views for `config->devices` devices and sets `config->memory`, the
// capacity of each, if it was 0: the profile's, or what RLIMIT_AS and the
// machine (valgrind) allow. False, with a reason, if there is no room.
bool reserve_address_space(Config* config, char* why, size_t why_size);

// The device that owns an address, or -1. Async-signal-safe.
inline int device_of(const void* pointer) {
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(address_space.begin);
  return offset < address_space.bytes ? static_cast<int>(offset / address_space.bytes_per_device)
                                      : -1;
}

// The kernel address of a device address.
template <class T>
inline T* kernel_view(T* pointer) {
  return reinterpret_cast<T*>(reinterpret_cast<size_t>(pointer) + address_space.distance);
}

// Opens and closes the kernel view of whole pages (device addresses). Memory
// reads as zero after `commit`. `commit` is false if the system refuses.
bool commit(char* device_address, size_t bytes);
void punch(char* device_address, size_t bytes);

// In the child after a fork: both views become inaccessible addresses that
// share nothing with the parent. Async-signal-safe.
void detach_address_space();

}  // namespace anvil::simulator
