// Memory of cuMemCreate that crosses processes as a file descriptor.
//
// The descriptor is a small file that says where the memory is: the exporter's
// process, its file of the device, and the range. Unlike CUDA's it does not keep
// the memory alive: the exporter must live and hold it until it is imported.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "runtime/simulator/allocations.h"
#include "runtime/simulator/driver/driver.h"
#include "runtime/simulator/driver/virtual_memory.h"
#include "runtime/simulator/other_process.h"

namespace anvil::simulator {
namespace {

constexpr uint64_t kMagic = 0x616e76696c564d4d;

struct Ticket {
  uint64_t magic;
  pid_t process;
  FileRange range;
  CUmemAllocationProp properties;
};

}  // namespace

ANVIL_EXPORT CUresult cuMemExportToShareableHandle(void* shareable,
                                                   CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType type,
                                                   unsigned long long flags) {
  return driver([&](Thread&) {
    if (shareable == nullptr || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const std::lock_guard lock(memory->mutex);
    const PhysicalMemory* physical = find_physical(handle);
    if (physical == nullptr || physical->imported ||
        (physical->properties.requestedHandleTypes & type) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = memfd_create("anvil-memory", MFD_CLOEXEC);
    const Ticket ticket{kMagic, getpid(), physical->range, physical->properties};
    if (file < 0) {
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (pwrite(file, &ticket, sizeof(ticket), 0) != sizeof(ticket)) {
      close(file);
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *static_cast<int*>(shareable) = file;
    return CUDA_SUCCESS;
  });
}

// The caller keeps the descriptor and closes it.
ANVIL_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                     void* shareable,
                                                     CUmemAllocationHandleType type) {
  return driver([&](Thread&) {
    if (handle == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    Ticket ticket{};
    const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(shareable));
    if (pread(descriptor, &ticket, sizeof(ticket), 0) != sizeof(ticket) || ticket.magic != kMagic) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const int file = open_file_of_process(ticket.process, ticket.range.file);
    if (file < 0 || !is_device(ticket.properties.location.id)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::lock_guard lock(memory->mutex);
    ticket.range.file = file;
    *handle = handle_of(new PhysicalMemory{ticket.range, ticket.properties, 1, true});
    return CUDA_SUCCESS;
  });
}

}  // namespace anvil::simulator
