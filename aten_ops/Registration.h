// What generated registrations use: device guard, output allocation and checks.
// Included by generated/Register_<family>.cpp only.
#pragma once

#include <ATen/DeviceGuard.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/adaption.h>
#include <torch/library.h>

#include <optional>

#include "aten_ops/Counters.h"
#include "backend/Functions.h"

namespace anvil {

// Makes a device current for the calling thread until it is destroyed, as
// c10::OptionalDeviceGuard does, without virtual calls, and without any call
// where the device is current already. Devices of another type change nothing.
class OperatorGuard {
 public:
  OperatorGuard() = default;
  explicit OperatorGuard(std::optional<c10::Device> device) {
    if (device.has_value() && device->type() == kDeviceType) {
      make_current(device->index());
    }
  }
  ~OperatorGuard() {
    if (C10_UNLIKELY(previous_ >= 0)) {
      unchecked_set_device(previous_);
    }
  }
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;

  // A negative index is the current device.
  void make_current(c10::DeviceIndex index) {
    if (C10_UNLIKELY(index >= 0 && index != current_device())) {
      TORCH_INTERNAL_ASSERT(previous_ < 0, "structured kernels don't support multi-device outputs");
      previous_ = exchange_device(index);
    }
  }

 private:
  c10::DeviceIndex previous_ = -1;  // negative: nothing to restore
};

// The device of a factory's arguments; without one, the current device.
inline c10::Device factory_device(std::optional<c10::Device> device) {
  return device.value_or(c10::Device(kDeviceType, -1));
}

// For structured kernels: the device of the outputs becomes current.
inline void set_guard(OperatorGuard& guard, c10::Device device) {
  guard.make_current(device.index());
}

// An uninitialised output on the current device; `strides` may be empty.
at::Tensor create_out(at::IntArrayRef sizes,
                      at::IntArrayRef strides,
                      const at::TensorOptions& options);

// Resizes a given output, with upstream's warning where it had elements, after
// its dtype and device were compared with `options`.
void resize_out(const at::Tensor& out,
                at::IntArrayRef sizes,
                at::IntArrayRef strides,
                const at::TensorOptions& options);

// Throws unless `self` can hold the result of an in-place call.
void check_inplace(const at::Tensor& self, at::IntArrayRef sizes, const at::TensorOptions& options);

// A tensor to compute into where `out` does not have the strides that the
// kernel asks for; it is copied back by the wrapper.
std::optional<at::Tensor> maybe_create_proxy(const at::Tensor& out,
                                             at::IntArrayRef sizes,
                                             at::IntArrayRef strides,
                                             const at::TensorOptions& options);

}  // namespace anvil
