// Streams: a pool of each priority for each device, made at first use, and the
// current stream of each thread. Shaped like c10::xpu::XPUStream.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <cuda_runtime_api.h>

#include "backend/Macros.h"

namespace anvil {

// A c10::Stream known to be Anvil's. A value type; owns nothing (pool streams
// live as long as the process, external ones belong to their creator).
class ANVIL_API Stream {
 public:
  // `stream` must be of PrivateUse1, else this throws.
  explicit Stream(c10::Stream stream);

  operator c10::Stream() const { return stream_; }
  c10::Stream unwrap() const { return stream_; }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }

  // The runtime's handle; null is the legacy default stream.
  cudaStream_t stream() const;
  operator cudaStream_t() const { return stream(); }

  bool query() const;        // all work done; raises asynchronous errors
  void synchronize() const;  // blocks the calling thread; releases the GIL
  int priority() const;      // 0 is lowest, negative is higher, as in CUDA

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

}  // namespace anvil
