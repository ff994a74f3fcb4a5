// Work of the simulator's streams that ATen's CPU implementation does: the
// simulator's stand-in for a vendor library.
//
// Only for the simulator: on CUDA the device's memory cannot be reached by the
// host, and host_call() throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/SmallVector.h>

#include <functional>

namespace anvil::library {

// A device tensor as the worker threads see it: kernel address, dtype, sizes
// and strides, and no ownership. Made by the calling thread, before the work is
// queued. The memory stays valid until the work has run although nobody holds
// it: the caching allocator hands a freed block out again only on the stream
// that it was allocated on, and so after the work; a tensor of another stream
// needs record_stream(), as for any kernel.
class HostView {
 public:
  // An undefined tensor, for optional arguments.
  HostView() = default;
  HostView(const at::Tensor& tensor);
  // Strided memory at the device address `data`.
  HostView(const void* data, at::ScalarType dtype, at::IntArrayRef sizes, at::IntArrayRef strides);

  // A CPU tensor over the memory. Only inside a body of host_call(), and not
  // beyond it.
  at::Tensor tensor() const;

 private:
  bool defined_ = false;
  void* address_ = nullptr;
  at::ScalarType dtype_ = at::ScalarType::Undefined;
  c10::SmallVector<int64_t, 5> sizes_, strides_;
};

// Queues `body` on the calling thread's current stream and returns. The body
// runs once, on a worker thread, below autograd, with one OpenMP thread; it
// must not use the device's API. What it throws is an asynchronous error of
// the stream: it is reported by the next call that synchronises. `name` (static
// storage) stands for the work in traces and errors.
void host_call(const char* name, std::function<void()> body);

}  // namespace anvil::library
