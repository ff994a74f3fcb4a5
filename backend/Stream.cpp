#include "backend/Stream.h"

#include <c10/util/CallOnce.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "backend/BlockingRegion.h"
#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/Lifecycle.h"
#include "backend/ThreadState.h"
#include "runtime/table.h"

// Note [StreamId]: 64 bits that name a stream of a device.
//   0                  the legacy default stream
//   ...0 (even)        an external stream: its handle, an aligned pointer
//   ...1 (odd)         a pool stream: index in bits 1-5, priority in bits 6-10
//                      (0 is the lowest priority, 1 the next higher, ...)

namespace anvil {
namespace {

constexpr int kStreamsPerPool = 32;
constexpr int kMaxPriorities = 32;

// The streams of one priority of one device. Created together at the first use
// of any, kept until the process ends.
struct Pool {
  c10::once_flag created;
  std::atomic<uint32_t> next{0};
  std::array<cudaStream_t, kStreamsPerPool> streams{};
};

Pool& pool_of(c10::DeviceIndex device, int level) {
  static auto* pools = new std::array<std::array<Pool, kMaxPriorities>, kMaxDevices>();
  return (*pools)[device][level];
}

Pool& created_pool(c10::DeviceIndex device, int level) {
  Pool& pool = pool_of(device, level);
  c10::call_once(pool.created, [&] {
    const DeviceGuard guard(c10::Device(kDeviceType, device));
    mark_used(device);
    const int priority = stream_priority_range().first - level;
    for (cudaStream_t& stream : pool.streams) {
      ANVIL_CHECK(
          runtime::table().cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    }
  });
  return pool;
}

constexpr bool is_pool_id(c10::StreamId id) { return (id & 1) != 0; }
constexpr int index_of(c10::StreamId id) { return static_cast<int>((id >> 1) & 31); }
constexpr int level_of(c10::StreamId id) { return static_cast<int>((id >> 6) & 31); }
constexpr c10::StreamId pool_id(int index, int level) {
  return (static_cast<c10::StreamId>(level) << 6) | (static_cast<c10::StreamId>(index) << 1) | 1;
}

Stream make_stream(c10::DeviceIndex device, c10::StreamId id) {
  return Stream(Stream::UNCHECKED,
                c10::Stream(c10::Stream::UNSAFE, c10::Device(kDeviceType, device), id));
}

}  // namespace

Stream::Stream(c10::Stream stream) : stream_(stream) {
  TORCH_CHECK(stream.device_type() == kDeviceType, "expected a stream of ",
              c10::DeviceTypeName(kDeviceType, true), ", but got one of ",
              c10::DeviceTypeName(stream.device_type(), true));
}

cudaStream_t Stream::stream() const {
  const c10::StreamId id = stream_.id();
  if (!is_pool_id(id)) {
    return reinterpret_cast<cudaStream_t>(id);  // default or external
  }
  return created_pool(device_index(), level_of(id)).streams[index_of(id)];
}

bool Stream::query() const {
  const DeviceGuard guard(device());
  ensure_initialized();
  const cudaError_t code = runtime::table().cudaStreamQuery(stream());
  if (code == cudaErrorNotReady) {
    runtime::table().cudaGetLastError();
    return false;
  }
  detail::check(code, "cudaStreamQuery(stream)");
  return true;
}

void Stream::synchronize() const {
  const DeviceGuard guard(device());
  ensure_initialized();
  const cudaStream_t handle = stream();
  cudaError_t code = cudaSuccess;
  {
    const BlockingRegion region;
    code = runtime::table().cudaStreamSynchronize(handle);
  }
  detail::check(code, "cudaStreamSynchronize(stream)");
}

int Stream::priority() const {
  const c10::StreamId id = stream_.id();
  if (is_pool_id(id)) {
    return stream_priority_range().first - level_of(id);
  }
  if (id == 0) {
    return 0;
  }
  const DeviceGuard guard(device());
  int priority = 0;
  ANVIL_CHECK(runtime::table().cudaStreamGetPriority(stream(), &priority));
  return priority;
}

bool Stream::is_capturing() const {
  if (!is_usable()) {
    return false;
  }
  const DeviceGuard guard(device());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ANVIL_CHECK(runtime::table().cudaStreamIsCapturing(stream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

std::pair<int, int> stream_priority_range() {
  static const auto range = [] {
    ensure_initialized();
    int least = 0;
    int greatest = 0;
    ANVIL_CHECK(runtime::table().cudaDeviceGetStreamPriorityRange(&least, &greatest));
    return std::pair(least, std::max(greatest, least - (kMaxPriorities - 1)));
  }();
  return range;
}

Stream getStreamFromPool(int priority, c10::DeviceIndex device) {
  device = device_or_current(device);
  const auto [least, greatest] = stream_priority_range();
  const int level = least - std::clamp(priority, greatest, least);
  Pool& pool = created_pool(device, level);
  const uint32_t index = pool.next.fetch_add(1, std::memory_order_relaxed) % kStreamsPerPool;
  return make_stream(device, pool_id(static_cast<int>(index), level));
}

Stream getStreamFromPool(bool high_priority, c10::DeviceIndex device) {
  const auto [least, greatest] = stream_priority_range();
  return getStreamFromPool(high_priority ? greatest : least, device);
}

Stream getStreamFromExternal(cudaStream_t stream, c10::DeviceIndex device) {
  device = device_or_current(device);
  if (stream == cudaStreamLegacy) {
    return getDefaultStream(device);
  }
  const auto id = reinterpret_cast<c10::StreamId>(stream);
  TORCH_CHECK(!is_pool_id(id), "an external stream's handle must be an aligned pointer, but got ",
              static_cast<const void*>(stream));
  return make_stream(device, id);
}

Stream getDefaultStream(c10::DeviceIndex device) {
  return make_stream(device_or_current(device), 0);
}

Stream getCurrentStream(c10::DeviceIndex device) {
  const detail::ThreadState& thread = detail::thread_state;
  if (device < 0 || device == thread.device) {
    return make_stream(thread.device, thread.streams[thread.device]);
  }
  check_device_index(device);
  return make_stream(device, thread.streams[device]);
}

void setCurrentStream(Stream stream) {
  check_device_index(stream.device_index());
  detail::thread_state.streams[stream.device_index()] = stream.id();
}

}  // namespace anvil
