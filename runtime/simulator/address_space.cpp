#include "runtime/simulator/address_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/simulator/report.h"

namespace anvil::simulator {

constinit AddressSpace address_space{};

namespace {

constexpr size_t kSmallestMemory = size_t{64} << 20;
constinit int files[kMaxDevices] = {};

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// Room for guard pages between allocations and for fragmentation.
size_t addresses_for(size_t memory) { return round_up(memory + memory / 2, kStep); }

// An expandable segment reserves more than a whole device, and a program has one
// for each of its streams and sizes.
constexpr size_t kVirtualDevices = 32;

// One view: MAP_NORESERVE, because capacity is ours to count.
bool map_view(char* address, size_t bytes, int file) {
  return mmap(address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) !=
         MAP_FAILED;
}

void release(char* base, size_t bytes, int files_made) {
  munmap(base, bytes);
  for (int i = 0; i < files_made; ++i) {
    close(files[i]);
  }
}

// A closed range whose begin is a whole step, or null.
char* reserve(size_t bytes) {
  void* base =
      mmap(nullptr, bytes + kStep, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return nullptr;
  }
  const size_t slack = -reinterpret_cast<uintptr_t>(base) % kStep;
  char* begin = static_cast<char*>(base) + slack;
  if (slack > 0) {
    munmap(base, slack);
  }
  munmap(begin + bytes, kStep - slack);
  return begin;
}

bool has_address_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool try_reserve(int devices, size_t memory) {
  const size_t each = addresses_for(memory);
  // The virtual part takes what there is.
  size_t virtual_bytes = has_address_limit() ? 0 : kVirtualDevices * each;
  size_t bytes = 0;
  char* begin = nullptr;
  for (;; virtual_bytes = virtual_bytes / 2 / kStep * kStep) {
    bytes = each * devices + virtual_bytes;
    begin = reserve(2 * bytes);
    if (begin != nullptr) {
      break;
    }
    if (virtual_bytes == 0) {
      return false;
    }
  }
  for (int device = 0; device < devices; ++device) {
    char name[32];
    std::snprintf(name, sizeof(name), "anvil-device-%d", device);
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) {
      release(begin, 2 * bytes, device);
      return false;
    }
    files[device] = file;
    if (ftruncate(file, static_cast<off_t>(2 * each)) != 0 ||
        !map_view(begin + device * each, each, file) ||
        !map_view(begin + bytes + device * each, each, file)) {
      release(begin, 2 * bytes, device + 1);
      return false;
    }
  }
  madvise(begin, 2 * bytes, MADV_DONTDUMP);
  address_space = {begin, each, each * devices, bytes, static_cast<ptrdiff_t>(bytes)};
  return true;
}

// A limit on addresses must also hold what the process itself needs: the
// devices take at most half of what the limit is.
size_t limited(size_t memory, int devices) {
  if (!has_address_limit()) {
    return memory;
  }
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return std::min<size_t>(memory, limit.rlim_cur / 2 / devices / 3 / kPage * kPage);
}

}  // namespace

bool reserve_address_space(Config* config, char* why, size_t why_size) {
  if (config->memory != 0) {
    if (try_reserve(config->devices, config->memory)) {
      return true;
    }
    std::snprintf(why, why_size,
                  "ANVIL_SIMULATOR_MEMORY: no address space for %d devices of %zu bytes (%s); "
                  "use less memory or fewer devices",
                  config->devices, config->memory, std::strerror(errno));
    return false;
  }
  for (size_t memory = limited(config->profile->memory, config->devices); memory >= kSmallestMemory;
       memory = memory / 2 / kPage * kPage) {
    if (try_reserve(config->devices, memory)) {
      config->memory = memory;
      return true;
    }
  }
  std::snprintf(why, why_size,
                "no address space for %d devices of at least 64 MiB (%s); raise the limit "
                "(ulimit -v) or set ANVIL_SIMULATOR_MEMORY and ANVIL_SIMULATOR_DEVICES lower",
                config->devices, std::strerror(errno));
  return false;
}

bool commit(char* device_address, size_t bytes) {
  return mprotect(kernel_view(device_address), bytes, PROT_READ | PROT_WRITE) == 0;
}

FileRange file_range(const char* device_address, size_t bytes) {
  const int device = device_of(device_address);
  return {files[device],
          static_cast<off_t>(offset_of(device_address) - device * address_space.bytes_per_device),
          bytes};
}

FileRange virtual_half(int device) {
  const size_t each = address_space.bytes_per_device;
  return {files[device], static_cast<off_t>(each), each};
}

void punch(const FileRange& range) {
  fallocate(range.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, range.offset,
            static_cast<off_t>(range.bytes));
}

void punch(char* device_address, size_t bytes) {
  mprotect(kernel_view(device_address), bytes, PROT_NONE);
  punch(file_range(device_address, bytes));
}

bool map(char* device_address, const FileRange& range) {
  return mmap(kernel_view(device_address), range.bytes, PROT_NONE,
              MAP_SHARED | MAP_FIXED | MAP_NORESERVE, range.file, range.offset) != MAP_FAILED;
}

bool unmap(char* device_address, size_t bytes) {
  return mmap(kernel_view(device_address), bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

void detach_address_space() {
  if (address_space.begin == nullptr) {
    return;
  }
  const void* detached = mmap(address_space.begin, 2 * address_space.bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (detached == MAP_FAILED) {
    report("a forked child cannot let go of its parent's device memory (%s)", std::strerror(errno));
    std::abort();  // it could write there
  }
}

}  // namespace anvil::simulator
