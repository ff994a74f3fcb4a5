// Streams: the owner and the reference.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/device.h"
#include "runtime/export.h"
#include "runtime/handle.h"

namespace anvil::runtime {

class EventRef;

// A stream that someone else keeps alive. A value type. The legacy default
// stream has a name, so no number and no null is taken for one.
class ANVIL_RUNTIME_API StreamRef {
 public:
  StreamRef(cudaStream_t stream) : stream_(stream) {}
  StreamRef(int) = delete;
  StreamRef(std::nullptr_t) = delete;

  // Of the calling thread's current device.
  static StreamRef legacy() { return StreamRef(cudaStreamLegacy); }

  cudaStream_t get() const { return stream_; }

  // True if all work is done. Raises the device's asynchronous errors.
  bool query() const;
  // Blocks the calling thread until all work is done. Raises as `query`.
  void synchronize() const;
  // Work enqueued later waits for the event's latest record; the host does not.
  void wait(EventRef event) const;
  // Calls `function(data)` on a thread of the driver after all work before it;
  // no CUDA call may be made there. Not called if the device has failed.
  void launch_host_function(cudaHostFn_t function, void* data) const;
  int priority() const;
  DeviceIndex device() const;

  bool operator==(const StreamRef&) const = default;

 private:
  cudaStream_t stream_;
};

struct StreamTraits {
  using value_type = cudaStream_t;
  ANVIL_RUNTIME_API static void destroy(cudaStream_t stream) noexcept;
};

// Owns a stream of the device that was current when it was made. It is not
// ordered with the legacy default stream. The destructor does not wait: work
// that is queued still runs.
class ANVIL_RUNTIME_API Stream : public Handle<StreamTraits> {
 public:
  // 0 is the least priority, negative is higher; clamped to the device's range.
  explicit Stream(int priority = 0);

  operator StreamRef() const { return StreamRef(get()); }
  bool query() const { return StreamRef(get()).query(); }
  void synchronize() const { StreamRef(get()).synchronize(); }
  void wait(EventRef event) const;
  int priority() const { return StreamRef(get()).priority(); }
  DeviceIndex device() const { return StreamRef(get()).device(); }
};

}  // namespace anvil::runtime
