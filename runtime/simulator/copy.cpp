// cudaMemcpy* and cudaMemset*, with CUDA's rules on when they block the host
// ("API synchronization behavior" in the CUDA Runtime API reference):
//
//                          cudaMemcpy                 cudaMemcpyAsync
//   pageable -> device     until staged               until staged
//   pinned -> device       until done                 no
//   device -> pageable     until done                 until done
//   device -> pinned       until done                 no
//   device -> device       no                         no
//   host -> host           until done                 until done
//
// cudaMemset does not block, but for pinned host memory.
#include "runtime/simulator/copy.h"

#include <cstdlib>
#include <cstring>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/memory.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

// Above this a pageable source is read in stream order while the host waits,
// which CUDA's rules also allow, instead of being staged.
constexpr size_t kLargestStaging = size_t{1} << 20;

size_t extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }

// A side of a copy: what it is, and where the copy reaches it.
struct Side {
  bool pageable = false;
  bool device = false;
  bool managed = false;  // both
  int device_index = -1;
  char* address = nullptr;
};

// Fails if the range is device memory that is not allocated, or leaves its
// allocation.
cudaError_t resolve_side(const void* pointer, size_t bytes, Side* side) {
  if (pointer == nullptr) {
    return cudaErrorInvalidValue;
  }
  const Location location = locate(pointer);
  char* address = static_cast<char*>(const_cast<void*>(pointer));
  switch (location.place) {
    case Place::kPageable:
      *side = {true, false, false, -1, address};
      return cudaSuccess;
    case Place::kUnallocated:
      return cudaErrorInvalidValue;
    default:
      break;
  }
  if (!location.holds(pointer, bytes)) {
    return cudaErrorInvalidValue;
  }
  const bool device = location.place == Place::kDevice;
  *side = {false, device, location.place == Place::kManaged, location.device,
           device ? kernel_view(address) : address};
  return cudaSuccess;
}

// The direction that the caller names must be the one that the pointers have.
cudaError_t check_direction(cudaMemcpyKind kind, const Side& to, const Side& from) {
  if (to.managed || from.managed) {
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
  }
  switch (kind) {
    case cudaMemcpyDefault:
      return cudaSuccess;
    case cudaMemcpyHostToHost:
      return to.device || from.device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyHostToDevice:
      return !to.device || from.device ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToHost:
      return to.device || !from.device ? cudaErrorInvalidValue : cudaSuccess;
    // Pinned memory is visible to the device, so it may stand for its memory.
    case cudaMemcpyDeviceToDevice:
      return to.pageable || from.pageable ? cudaErrorInvalidValue : cudaSuccess;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

// Rows without gaps are one long row.
void flatten(CopyWork& work) {
  if (work.to_pitch == work.width && work.from_pitch == work.width) {
    work.width *= work.height;
    work.height = 1;
  }
}

// Copies the source, so that the caller may change it; rows lose their gaps.
void stage(CopyWork& work, char* buffer) {
  for (size_t row = 0; row < work.height; ++row) {
    std::memcpy(buffer + row * work.width, work.from + row * work.from_pitch, work.width);
  }
  work.from = buffer;
  work.from_pitch = work.width;
}

}  // namespace

cudaError_t copy(const Rectangle& r, cudaMemcpyKind kind, Stream& stream, bool synchronous) {
  if (r.width == 0 || r.height == 0) {
    return cudaSuccess;
  }
  if (r.width > r.to_pitch || r.width > r.from_pitch) {
    return cudaErrorInvalidPitchValue;
  }
  Side to, from;
  if (const cudaError_t bad = resolve_side(r.to, extent(r.to_pitch, r.width, r.height), &to)) {
    return bad;
  }
  if (const cudaError_t bad =
          resolve_side(r.from, extent(r.from_pitch, r.width, r.height), &from)) {
    return bad;
  }
  if (const cudaError_t bad = check_direction(kind, to, from)) {
    return bad;
  }
  if (const cudaError_t refused = synchronous ? admit_query(stream, current_thread) : cudaSuccess) {
    return refused;
  }
  if (const cudaError_t refused = admit(stream)) {
    return refused;
  }
  CopyWork work{to.address, from.address, r.to_pitch, r.from_pitch, r.width, r.height, nullptr};
  flatten(work);

  const size_t bytes = work.width * work.height;
  // What a graph copies is read when the graph runs.
  const bool captured = capturing(stream);
  const bool staged = !captured && from.pageable && to.device && bytes <= kLargestStaging;
  const bool in_node = staged && bytes <= NodePool::kLargePayload;
  if (staged && !in_node) {
    work.staging = std::malloc(bytes);
    if (work.staging == nullptr) {
      return cudaErrorMemoryAllocation;
    }
    stage(work, static_cast<char*>(work.staging));
  }
  const bool waits = (from.pageable && !staged) || to.pageable || (!to.device && !from.device) ||
                     (synchronous && !staged && !(to.device && from.device));
  uint64_t sequence = 0;
  {
    Submission node(stream, Work::kCopy, in_node ? bytes : 0);
    node->copy = work;
    if (in_node) {
      stage(node->copy, node->payload());
    }
    sequence = node.sequence();
    node.commit();
  }
  if (waits && !captured) {
    wait(stream, sequence);
    return failure(*stream.device);
  }
  return cudaSuccess;
}

cudaError_t fill(
    void* pointer, size_t pitch, Pattern pattern, size_t width, size_t height, Stream& stream) {
  if (width == 0 || height == 0) {
    return cudaSuccess;
  }
  if (width > pitch) {
    return cudaErrorInvalidValue;
  }
  Side side;
  if (const cudaError_t bad = resolve_side(pointer, extent(pitch, width, height), &side)) {
    return bad;
  }
  if (side.pageable) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t refused = admit(stream)) {
    return refused;
  }
  if (pitch == width) {
    width *= height;
    height = 1;
  }
  uint64_t sequence = 0;
  {
    Submission node(stream, Work::kFill);
    node->fill = {side.address, pitch, width, height, pattern.value, pattern.element};
    sequence = node.sequence();
    node.commit();
  }
  if (!side.device && !capturing(stream)) {
    wait(stream, sequence);
    return failure(*stream.device);
  }
  return cudaSuccess;
}

namespace {

template <class Body>
cudaError_t on_stream(cudaStream_t handle,
                      Body&& body,
                      const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        return stream != nullptr ? body(*stream) : cudaErrorInvalidResourceHandle;
      },
      function);
}

Rectangle line(void* to, const void* from, size_t bytes) {
  return {to, from, bytes, bytes, bytes, 1};
}

// What cudaMemset repeats.
Pattern byte(int value) { return {static_cast<unsigned char>(value), 1}; }

// Later work of `stream` waits for all that is queued in `other` now.
void follow(Stream& stream, Stream& other) {
  Submission node(stream, Work::kWait);
  node->wait = {&other, other.enqueued};
  node.commit();
}

// Between two devices on the legacy stream a copy starts after all earlier work
// of both and ends before any later work of either (CUDA C++ Programming Guide,
// "Peer-to-Peer Memory Copy").
cudaError_t copy_peer(
    const Rectangle& r, int to_device, int from_device, Stream& stream, bool synchronous) {
  if (to_device < 0 || to_device >= config.devices || from_device < 0 ||
      from_device >= config.devices) {
    return cudaErrorInvalidDevice;
  }
  if (r.width == 0) {
    return cudaSuccess;
  }
  const int expected[2] = {to_device, from_device};
  const void* const pointers[2] = {r.to, r.from};
  for (int side = 0; side < 2; ++side) {
    const int owner = is_device_address(pointers[side]) ? locate(pointers[side]).device : -1;
    if (owner >= 0 && owner != expected[side]) {
      return cudaErrorInvalidValue;
    }
  }
  if (!stream.legacy || to_device == from_device) {
    return copy(r, cudaMemcpyDefault, stream, synchronous);
  }
  for (const int index : expected) {
    if (index != stream.device->index) {
      follow(stream, device(index).legacy);
    }
  }
  const cudaError_t code = copy(r, cudaMemcpyDefault, stream, synchronous);
  for (const int index : expected) {
    if (index != stream.device->index) {
      follow(device(index).legacy, stream);
    }
  }
  return code;
}

}  // namespace

void execute_copy(const CopyWork& work) {
  for (size_t row = 0; row < work.height; ++row) {
    std::memmove(work.to + row * work.to_pitch, work.from + row * work.from_pitch, work.width);
  }
}

void execute_fill(const FillWork& work) {
  for (size_t row = 0; row < work.height; ++row) {
    char* to = work.to + row * work.pitch;
    if (work.element == 1) {
      std::memset(to, static_cast<int>(work.value), work.width);
      continue;
    }
    for (size_t i = 0; i < work.width; i += work.element) {
      std::memcpy(to + i, &work.value, work.element);  // little endian
    }
  }
}

ANVIL_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return on_stream(nullptr, [&](Stream& s) { return copy(line(to, from, bytes), kind, s, true); });
}

ANVIL_EXPORT cudaError_t cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t handle) {
  return on_stream(handle, [&](Stream& s) { return copy(line(to, from, bytes), kind, s, false); });
}

ANVIL_EXPORT cudaError_t cudaMemcpy2D(void* to,
                                      size_t to_pitch,
                                      const void* from,
                                      size_t from_pitch,
                                      size_t width,
                                      size_t height,
                                      cudaMemcpyKind kind) {
  return on_stream(nullptr, [&](Stream& stream) {
    return copy({to, from, to_pitch, from_pitch, width, height}, kind, stream, true);
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpy2DAsync(void* to,
                                           size_t to_pitch,
                                           const void* from,
                                           size_t from_pitch,
                                           size_t width,
                                           size_t height,
                                           cudaMemcpyKind kind,
                                           cudaStream_t handle) {
  return on_stream(handle, [&](Stream& stream) {
    return copy({to, from, to_pitch, from_pitch, width, height}, kind, stream, false);
  });
}

ANVIL_EXPORT cudaError_t
cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return on_stream(nullptr, [&](Stream& stream) {
    return copy_peer(line(to, from, bytes), to_device, from_device, stream, true);
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpyPeerAsync(
    void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t handle) {
  return on_stream(handle, [&](Stream& stream) {
    return copy_peer(line(to, from, bytes), to_device, from_device, stream, false);
  });
}

ANVIL_EXPORT cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return on_stream(nullptr,
                   [&](Stream& s) { return fill(pointer, bytes, byte(value), bytes, 1, s); });
}

ANVIL_EXPORT cudaError_t cudaMemsetAsync(void* pointer,
                                         int value,
                                         size_t bytes,
                                         cudaStream_t handle) {
  return on_stream(handle,
                   [&](Stream& s) { return fill(pointer, bytes, byte(value), bytes, 1, s); });
}

ANVIL_EXPORT cudaError_t
cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return on_stream(nullptr,
                   [&](Stream& s) { return fill(pointer, pitch, byte(value), width, height, s); });
}

ANVIL_EXPORT cudaError_t cudaMemset2DAsync(
    void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t handle) {
  return on_stream(handle,
                   [&](Stream& s) { return fill(pointer, pitch, byte(value), width, height, s); });
}

}  // namespace anvil::simulator
