#include "runtime/stream.h"

#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/table.h"

namespace anvil::runtime {

bool StreamRef::query() const {
  const cudaError_t code = table().cudaStreamQuery(stream_);
  if (code == cudaErrorNotReady) {
    ignore(code);
    return false;
  }
  check(code, "cudaStreamQuery");
  return true;
}

void StreamRef::synchronize() const { ANVIL_CUDA_CHECK(table().cudaStreamSynchronize(stream_)); }

void StreamRef::wait(EventRef event) const {
  ANVIL_CUDA_CHECK(table().cudaStreamWaitEvent(stream_, event.get(), cudaEventWaitDefault));
}

void StreamRef::launch_host_function(cudaHostFn_t function, void* data) const {
  ANVIL_CUDA_CHECK(table().cudaLaunchHostFunc(stream_, function, data));
}

int StreamRef::priority() const {
  int priority = 0;
  ANVIL_CUDA_CHECK(table().cudaStreamGetPriority(stream_, &priority));
  return priority;
}

DeviceIndex StreamRef::device() const {
  int device = 0;
  ANVIL_CUDA_CHECK(table().cudaStreamGetDevice(stream_, &device));
  return DeviceIndex{device};
}

void StreamTraits::destroy(cudaStream_t stream) noexcept {
  ignore(table().cudaStreamDestroy(stream));
}

namespace {

cudaStream_t make_stream(int priority) {
  cudaStream_t stream = nullptr;
  ANVIL_CUDA_CHECK(table().cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
  return stream;
}

}  // namespace

Stream::Stream(int priority) : Handle(make_stream(priority)) {}

void Stream::wait(EventRef event) const { StreamRef(get()).wait(event); }

}  // namespace anvil::runtime
