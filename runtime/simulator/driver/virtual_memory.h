// Virtual memory management: addresses and memory that are joined by hand
// (CUDA Driver API reference, "Virtual Memory Management").
#pragma once

#include <cuda.h>

#include "runtime/simulator/address_space.h"

namespace anvil::simulator {

// cuMemGetAllocationGranularity, minimum and recommended.
constexpr size_t kGranularity = kStep;

// What a CUmemGenericAllocationHandle stands for: memory without addresses.
// Guarded by the lock of the allocation table.
struct PhysicalMemory {
  FileRange range;
  CUmemAllocationProp properties;
  int references;  // handles and mappings
  bool imported;   // another process counts and frees it
};

// Makes a handle; the memory then has one reference.
CUmemGenericAllocationHandle handle_of(PhysicalMemory* memory);

// Null if the handle is not a live one. Needs the table's lock.
PhysicalMemory* find_physical(CUmemGenericAllocationHandle handle);

}  // namespace anvil::simulator
