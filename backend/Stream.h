// Streams: a pool of each priority for each device, made at first use, and the
// current stream of each thread. Shaped like c10::xpu::XPUStream.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <utility>

#include "backend/Macros.h"

namespace anvil {

// A c10::Stream known to be Anvil's. A value type; owns nothing (pool streams
// live as long as the process, external ones belong to their creator).
class ANVIL_API Stream {
 public:
  // `stream` must be of PrivateUse1, else this throws.
  explicit Stream(c10::Stream stream);

  // Where the type is known.
  enum Unchecked { UNCHECKED };
  Stream(Unchecked, c10::Stream stream) : stream_(stream) {}

  operator c10::Stream() const { return stream_; }
  c10::Stream unwrap() const { return stream_; }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }

  // The runtime's handle; null is the legacy default stream. Makes a pool stream
  // at its first use.
  cudaStream_t stream() const;
  operator cudaStream_t() const { return stream(); }

  bool query() const;        // all work done; raises asynchronous errors
  void synchronize() const;  // blocks the calling thread; releases the GIL
  int priority() const;      // 0 is lowest, negative is higher, as in CUDA
  bool is_capturing() const;

  bool operator==(const Stream& other) const { return stream_ == other.stream_; }

 private:
  c10::Stream stream_;
};

// A stream of the device's pool, round robin. `priority` is clamped to the
// device's range. -1 means the current device.
ANVIL_API Stream getStreamFromPool(int priority = 0, c10::DeviceIndex device = -1);
ANVIL_API Stream getStreamFromPool(bool high_priority, c10::DeviceIndex device = -1);
// Wraps a stream that someone else made and keeps alive.
ANVIL_API Stream getStreamFromExternal(cudaStream_t stream, c10::DeviceIndex device);
// The legacy default stream.
ANVIL_API Stream getDefaultStream(c10::DeviceIndex device = -1);
// The calling thread's stream on `device` (-1: on the current device).
ANVIL_API Stream getCurrentStream(c10::DeviceIndex device = -1);
ANVIL_API void setCurrentStream(Stream stream);

// (least, greatest): the device's range of priorities; lower numbers are higher
// priorities, as in cudaDeviceGetStreamPriorityRange.
ANVIL_API std::pair<int, int> stream_priority_range();

}  // namespace anvil

template <>
struct std::hash<anvil::Stream> {
  size_t operator()(anvil::Stream stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};
