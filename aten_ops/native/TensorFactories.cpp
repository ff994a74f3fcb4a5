// Uninitialised tensors.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorFactories.h>

#include <array>
#include <atomic>

#include "backend/CachingAllocator.h"
#include "backend/Functions.h"
#include "generated/factory_native.h"

namespace anvil::native {

namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

void check_options(std::optional<at::Layout> layout,
                   std::optional<at::Device> device,
                   std::optional<bool> pin_memory) {
  // -1 is the current device. torch.device("anvil:200") is -56: torch keeps 8
  // bits of the index. The registration's guard leaves negative indices alone.
  if (C10_UNLIKELY(device.has_value() && device->index() < -1)) {
    check_device_index(device->index());
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!layout.has_value() || *layout == at::Layout::Strided,
                              "only strided tensors live on ", kDeviceType, ", asked for layout ",
                              *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

// Note [Deterministic fill]
// With torch.use_deterministic_algorithms(True) and
// torch.utils.deterministic.fill_uninitialized_memory, memory that nobody wrote
// is NaN or the largest integer. Upstream does it in `empty` and `resize_`, not
// where structured kernels allocate their outputs; so do we.
at::Tensor filled(at::Tensor tensor) {
  if (C10_UNLIKELY(at::globalContext().deterministicAlgorithms() &&
                   at::globalContext().deterministicFillUninitializedMemory())) {
    at::native::fill_empty_deterministic_(tensor);
  }
  return tensor;
}

}  // namespace

at::Tensor empty_memory_format(at::IntArrayRef size,
                               std::optional<at::ScalarType> dtype,
                               std::optional<at::Layout> layout,
                               std::optional<at::Device> device,
                               std::optional<bool> pin_memory,
                               std::optional<at::MemoryFormat> memory_format) {
  check_options(layout, device, pin_memory);
  return filled(at::detail::empty_generic(size, getDeviceAllocator(), kKeys,
                                          c10::dtype_or_default(dtype), memory_format));
}

at::Tensor empty_strided(at::IntArrayRef size,
                         at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout,
                         std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  check_options(layout, device, pin_memory);
  return filled(at::detail::empty_strided_generic(size, stride, getDeviceAllocator(), kKeys,
                                                  c10::dtype_or_default(dtype)));
}

// A tensor of zeros without memory; autograd's stand-in for gradients that are
// zero. Read by the ZeroTensor key's kernels only.
at::Tensor _efficientzerotensor(at::IntArrayRef size,
                                std::optional<at::ScalarType> dtype,
                                std::optional<at::Layout> layout,
                                std::optional<at::Device> device,
                                std::optional<bool> pin_memory) {
  check_options(layout, device, pin_memory);
  constexpr auto keys = kKeys | c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);
  // A storage keeps a pointer to its allocator, so the tensor's own is not enough.
  static std::array<std::atomic<at::native::ZeroTensorAllocator*>, kMaxDevices> allocators{};
  auto& slot = allocators[current_device()];
  if (slot.load() == nullptr) {
    auto* made = new at::native::ZeroTensorAllocator(c10::Device(kDeviceType, current_device()));
    at::native::ZeroTensorAllocator* expected = nullptr;
    if (!slot.compare_exchange_strong(expected, made)) {
      delete made;
    }
  }
  return at::detail::empty_generic(size, slot.load(), keys, c10::dtype_or_default(dtype),
                                   std::nullopt);
}

}  // namespace anvil::native
