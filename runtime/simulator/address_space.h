// The address space of device memory: a memfd for each device, mapped twice.
//
//   begin                                   begin + distance
//   | device 0 | device 1 | ... | virtual | | device 0 | device 1 | ... | virtual |
//     what cudaMalloc returns;                the kernel view: readable and writable
//     never accessible                        where memory is allocated
//
// Pages are backed when a kernel first touches them, so that a device may be
// larger than the machine's memory; they are given back at free.
//
// The virtual part holds addresses without memory: virtual_memory.cpp maps parts
// of the devices' files there. A device's file has a second half for such parts,
// which no address of the device itself reaches.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/config.h"

namespace anvil::simulator {

struct AddressSpace {
  char* begin = nullptr;
  size_t bytes_per_device = 0;  // of addresses; more than the device's memory
  size_t device_bytes = 0;      // of all devices
  size_t bytes = 0;             // and of the virtual part; whole steps of 2 MiB
  ptrdiff_t distance = 0;       // kernel address - device address
};
extern AddressSpace address_space;

constexpr size_t kPage = 4096;
constexpr size_t kStep = size_t{2} << 20;  // of the virtual part

// Makes the views for `config->devices` devices and sets `config->memory`, the
// capacity of each, if it was 0: the profile's, or what RLIMIT_AS and the
// machine (valgrind) allow. False, with a reason, if there is no room.
bool reserve_address_space(Config* config, char* why, size_t why_size);

inline uintptr_t offset_of(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(address_space.begin);
}

// A device address, allocated or not. Async-signal-safe.
inline bool is_device_address(const void* pointer) {
  return offset_of(pointer) < address_space.bytes;
}

// The device whose own addresses hold this one, or -1. Async-signal-safe.
inline int device_of(const void* pointer) {
  const uintptr_t offset = offset_of(pointer);
  return offset < address_space.device_bytes
             ? static_cast<int>(offset / address_space.bytes_per_device)
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

// A part of a device's file.
struct FileRange {
  int file;
  off_t offset;
  size_t bytes;
};

// The second half of the device's file: the memory that is mapped by hand.
FileRange virtual_half(int device);

// Maps `range` at a device address of the virtual part, closed; `commit` opens
// its kernel view. `unmap` takes it away. False if the system refuses.
bool map(char* device_address, const FileRange& range);
bool unmap(char* device_address, size_t bytes);

// The memory of a committed device address of a device's own, as a file range.
FileRange file_range(const char* device_address, size_t bytes);

// Gives memory back to the system.
void punch(const FileRange& range);

// In the child after a fork: both views become inaccessible addresses that
// share nothing with the parent. Async-signal-safe.
void detach_address_space();

}  // namespace anvil::simulator
