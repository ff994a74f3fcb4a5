// Device memory and events that cross processes (CUDA Runtime API reference,
// cudaIpcGetMemHandle and following). A handle names a process and one of its
// open files; whoever opens it maps that file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/allocations.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/event.h"
#include "runtime/simulator/other_process.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/shared_event.h"

namespace anvil::simulator {
namespace {

constexpr uint32_t kMemoryMagic = 0x49504d65;
constexpr uint32_t kEventHandleMagic = 0x49504576;

struct MemoryHandle {
  uint32_t magic;
  pid_t process;
  FileRange range;  // whole pages
  size_t bytes;     // as asked for
  int device;
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));

struct EventHandle {
  uint32_t magic;
  pid_t process;
  int file;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));

struct Imported {
  MemoryHandle handle;
  size_t addresses;
  int opened;  // times
};

// Guarded by the lock of the allocation table.
std::map<char*, Imported>& imported() {
  static auto* imported = new std::map<char*, Imported>;
  return *imported;
}

bool same(const MemoryHandle& a, const MemoryHandle& b) {
  return a.process == b.process && a.device == b.device && a.range.offset == b.range.offset;
}

// With the table's lock.
cudaError_t import(const MemoryHandle& handle, void** pointer) {
  const size_t addresses = (handle.range.bytes + kStep - 1) / kStep * kStep;
  size_t offset = 0;
  if (!memory->virtual_addresses.take(addresses, kStep, &offset)) {
    return cudaErrorMapBufferObjectFailed;
  }
  char* const begin = address_space.begin + offset;
  const int file = open_file_of_process(handle.process, handle.range.file);
  const bool mapped = file >= 0 && map(begin, {file, handle.range.offset, handle.range.bytes}) &&
                      commit(begin, handle.range.bytes);
  if (file >= 0) {
    close(file);
  }
  if (!mapped) {
    unmap(begin, handle.range.bytes);
    memory->virtual_addresses.give(offset, addresses);
    return cudaErrorInvalidResourceHandle;
  }
  memory->blocks.emplace(begin,
                         Block{handle.bytes, handle.range.bytes, handle.device, Origin::kImported});
  imported().emplace(begin, Imported{handle, addresses, 1});
  *pointer = begin;
  return cudaSuccess;
}

}  // namespace

ANVIL_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return api([&](Thread&) {
    if (handle == nullptr || pointer == nullptr) {
      return cudaErrorInvalidValue;
    }
    const std::lock_guard lock(memory->mutex);
    const auto found = find_range(memory->blocks, pointer);
    if (found == memory->blocks.end() || found->second.origin != Origin::kMalloc) {
      return cudaErrorInvalidValue;
    }
    const Block& block = found->second;
    const MemoryHandle content{kMemoryMagic, getpid(), file_range(found->first, block.reserved),
                               block.bytes, block.device};
    std::memset(handle, 0, sizeof(*handle));
    std::memcpy(handle, &content, sizeof(content));
    return cudaSuccess;
  });
}

// A handle that is open already gives the same address again, and must be closed
// as often. The process that made it cannot open it.
ANVIL_EXPORT cudaError_t cudaIpcOpenMemHandle(void** pointer,
                                              cudaIpcMemHandle_t handle,
                                              unsigned flags) {
  return api([&](Thread& thread) {
    MemoryHandle content;
    std::memcpy(&content, &handle, sizeof(content));
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) {
      return cudaErrorInvalidValue;
    }
    if (content.magic != kMemoryMagic || content.device >= config.devices) {
      return cudaErrorInvalidResourceHandle;
    }
    if (content.process == getpid()) {
      return cudaErrorDeviceUninitialized;
    }
    use_device(thread.device);
    const std::lock_guard lock(memory->mutex);
    for (auto& [begin, known] : imported()) {
      if (same(known.handle, content)) {
        ++known.opened;
        *pointer = begin;
        return cudaSuccess;
      }
    }
    return import(content, pointer);
  });
}

// Waits, as cudaFree does.
ANVIL_EXPORT cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return api([&](Thread&) {
    wait_for_all_devices();
    const std::lock_guard lock(memory->mutex);
    const auto found = imported().find(static_cast<char*>(pointer));
    if (found == imported().end()) {
      return cudaErrorInvalidValue;
    }
    if (--found->second.opened > 0) {
      return cudaSuccess;
    }
    forget(memory->blocks.find(found->first));
    unmap(found->first, found->second.handle.range.bytes);
    memory->virtual_addresses.give(offset_of(pointer), found->second.addresses);
    imported().erase(found);
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return api([&](Thread&) {
    const Event* own = resolve(event);
    if (handle == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (own == nullptr || own->shared == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    const EventHandle content{kEventHandleMagic, getpid(), own->shared->file()};
    std::memset(handle, 0, sizeof(*handle));
    std::memcpy(handle, &content, sizeof(content));
    return cudaSuccess;
  });
}

ANVIL_EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return api([&](Thread& thread) {
    EventHandle content;
    std::memcpy(&content, &handle, sizeof(content));
    if (event == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (content.magic != kEventHandleMagic) {
      return cudaErrorInvalidResourceHandle;
    }
    auto shared = SharedEvent::open(open_file_of_process(content.process, content.file));
    if (shared == nullptr) {
      return cudaErrorMapBufferObjectFailed;
    }
    *event = make_event(use_device(thread.device), cudaEventInterprocess | cudaEventDisableTiming,
                        std::move(shared));
    return cudaSuccess;
  });
}

}  // namespace anvil::simulator
