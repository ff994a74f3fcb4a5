// What a pointer is: cudaPointerGetAttributes and the way to the kernel view.
#include <cstring>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/extension.h"
#include "runtime/simulator/memory.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {

ANVIL_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                  const void* pointer) {
  return api([&](Thread&) {
    if (attributes == nullptr) {
      return cudaErrorInvalidValue;
    }
    std::memset(attributes, 0, sizeof(*attributes));
    const Location location = pointer != nullptr ? locate(pointer) : Location{};
    void* same = const_cast<void*>(pointer);
    switch (location.place) {
      case Place::kDevice:
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = location.device;
        attributes->devicePointer = same;
        return cudaSuccess;
      case Place::kManaged:
        attributes->type = cudaMemoryTypeManaged;
        attributes->device = location.device;
        attributes->devicePointer = same;
        attributes->hostPointer = same;
        return cudaSuccess;
      case Place::kPinned:
      case Place::kRegistered:
        attributes->type = cudaMemoryTypeHost;
        attributes->device = location.device;
        attributes->devicePointer = same;
        attributes->hostPointer = same;
        return cudaSuccess;
      case Place::kPageable:
      case Place::kUnallocated:
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = location.place == Place::kPageable ? same : nullptr;
        return cudaSuccess;
    }
    return cudaErrorUnknown;
  });
}

ANVIL_EXPORT cudaError_t cudaHostGetDevicePointer(void** device_pointer,
                                                  void* host_pointer,
                                                  unsigned flags) {
  return api([&](Thread&) {
    if (device_pointer == nullptr || flags != 0 || host_pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    const Location location = locate(host_pointer);
    if (location.place != Place::kPinned && location.place != Place::kRegistered) {
      return cudaErrorInvalidValue;
    }
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api([&](Thread&) {
    if (flags == nullptr || pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    const Location location = locate(pointer);
    if (location.place != Place::kPinned) {
      return cudaErrorInvalidValue;
    }
    // Under unified addressing all pinned memory is mapped.
    *flags = location.flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

// Runs inside kernels too, so it is no API call.
ANVIL_EXPORT cudaError_t anvilSimulatorKernelAddress(const void* pointer, void** address) {
  *address = const_cast<void*>(pointer);
  if (pointer == nullptr) {
    return cudaSuccess;
  }
  if (phase.load(std::memory_order_acquire) != Phase::kReady) {
    if (const cudaError_t code = initialise()) {
      return code;
    }
  }
  if (is_device_address(pointer)) {
    *address = kernel_view(*address);
    return cudaSuccess;
  }
  return locate(pointer).place == Place::kPageable ? cudaErrorInvalidValue : cudaSuccess;
}

ANVIL_EXPORT anvilDeviceRange anvilSimulatorDeviceRange() {
  if (phase.load(std::memory_order_acquire) != Phase::kReady && initialise() != cudaSuccess) {
    return {nullptr, nullptr, 0};
  }
  return {address_space.begin, address_space.begin + address_space.bytes, address_space.distance};
}

}  // namespace anvil::simulator
