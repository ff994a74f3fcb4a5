#include "aten_ops/Registration.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>

#include "backend/CachingAllocator.h"

namespace anvil {

at::Tensor create_out(at::IntArrayRef sizes,
                      at::IntArrayRef strides,
                      const at::TensorOptions& options) {
  constexpr c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  if (strides.empty()) {
    return at::detail::empty_generic(sizes, getDeviceAllocator(), keys, dtype,
                                     options.memory_format_opt());
  }
  return at::detail::empty_strided_generic(sizes, strides, getDeviceAllocator(), keys, dtype);
}

void resize_out(const at::Tensor& out,
                at::IntArrayRef sizes,
                at::IntArrayRef strides,
                const at::TensorOptions& options) {
  TORCH_CHECK(options.dtype() == out.dtype(), "Expected out tensor to have dtype ", options.dtype(),
              ", but got ", out.dtype(), " instead");
  TORCH_CHECK(options.device() == out.device(), "Expected out tensor to have device ",
              options.device(), ", but got ", out.device(), " instead");
  if (!at::native::resize_output(out, sizes)) {
    return;  // strides are advice for a new output; one that fits keeps its own
  }
  if (!strides.empty()) {
    TORCH_INTERNAL_ASSERT(!options.memory_format_opt().has_value());
    out.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  } else if (options.memory_format_opt().has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
  }
}

void check_inplace(const at::Tensor& self,
                   at::IntArrayRef sizes,
                   const at::TensorOptions& options) {
  constexpr auto place = "Bad in-place call: input tensor ";
  TORCH_CHECK(options.dtype() == self.dtype(), place, "dtype ", self.dtype(),
              " and output tensor dtype ", options.dtype(), " should match");
  TORCH_CHECK(options.device() == self.device(), place, "device ", self.device(),
              " and output tensor device ", options.device(), " should match");
  TORCH_CHECK(sizes == self.sizes(), place, "size ", self.sizes(), " and output tensor size ",
              sizes, " should match");
}

std::optional<at::Tensor> maybe_create_proxy(const at::Tensor& out,
                                             at::IntArrayRef sizes,
                                             at::IntArrayRef strides,
                                             const at::TensorOptions& options) {
  if (out.strides() == strides) {
    return std::nullopt;
  }
  return create_out(sizes, strides, options);
}

}  // namespace anvil
