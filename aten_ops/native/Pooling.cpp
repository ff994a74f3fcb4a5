// Pooling over images, plain and with the channels last.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/pooling.h"
#include "aten_ops/native/Loops.h"
#include "backend/Stream.h"
#include "generated/pooling_native.h"

namespace anvil::native {
namespace {

// [channels, height, width] has no channels-last form.
at::MemoryFormat image_format(const at::Tensor& image) {
  return image.dim() == 4 ? image.suggest_memory_format() : at::MemoryFormat::Contiguous;
}

kernels::PoolShape pool_shape(const at::Tensor& input,
                              const at::Tensor& output,
                              at::MemoryFormat format) {
  return {.batch = input.dim() == 4 ? input.size(0) : 1,
          .channels = input.size(-3),
          .in_height = input.size(-2),
          .in_width = input.size(-1),
          .out_height = output.size(-2),
          .out_width = output.size(-1),
          .channels_last = format == at::MemoryFormat::ChannelsLast};
}

// One number for both dimensions, or one for each; `other` where there is none.
std::pair<int64_t, int64_t> pair_of(at::IntArrayRef values, std::pair<int64_t, int64_t> other) {
  return values.empty() ? other : std::pair{values[0], values.size() == 1 ? values[0] : values[1]};
}

kernels::PoolWindow pool_window(at::IntArrayRef kernel_size,
                                at::IntArrayRef stride,
                                at::IntArrayRef padding,
                                at::IntArrayRef dilation) {
  const auto kernel = pair_of(kernel_size, {1, 1});
  const auto step = pair_of(stride, kernel);
  const auto pad = pair_of(padding, {0, 0});
  const auto spread = pair_of(dilation, {1, 1});
  return {kernel.first, kernel.second, step.first,   step.second,
          pad.first,    pad.second,    spread.first, spread.second};
}

// `tensor`, or a dense tensor to compute in where it is laid out otherwise.
at::Tensor dense_output(const at::Tensor& tensor, at::MemoryFormat format) {
  return tensor.is_contiguous(format) ? tensor
                                      : at::empty(tensor.sizes(), tensor.options(), format);
}
void copy_back(const at::Tensor& tensor, const at::Tensor& dense) {
  if (!tensor.is_same(dense)) {
    tensor.copy_(dense);
  }
}

}  // namespace

TORCH_IMPL_FUNC(max_pool2d_with_indices_out)
(const at::Tensor& self,
 at::IntArrayRef kernel_size,
 at::IntArrayRef stride,
 at::IntArrayRef padding,
 at::IntArrayRef dilation,
 bool,
 const at::Tensor& out,
 const at::Tensor& indices) {
  if (out.numel() == 0) {
    return;
  }
  const at::MemoryFormat format = image_format(self);
  const at::Tensor input = self.contiguous(format);
  const at::Tensor values = dense_output(out, format);
  const at::Tensor positions = dense_output(indices, format);
  kernels::table().pooling.max(
      input.const_data_ptr(), values.mutable_data_ptr(), positions.mutable_data_ptr(),
      to_scalar_type(self.scalar_type()), pool_shape(self, out, format),
      pool_window(kernel_size, stride, padding, dilation), getCurrentStream());
  copy_back(out, values);
  copy_back(indices, positions);
}

TORCH_IMPL_FUNC(max_pool2d_with_indices_backward_grad_input)
(const at::Tensor& grad_output,
 const at::Tensor& self,
 at::IntArrayRef kernel_size,
 at::IntArrayRef stride,
 at::IntArrayRef padding,
 at::IntArrayRef dilation,
 bool,
 const at::Tensor& indices,
 const at::Tensor& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  const at::MemoryFormat format = image_format(self);
  const at::Tensor grad = grad_output.contiguous(format);
  const at::Tensor positions = indices.contiguous(format);
  const at::Tensor result = dense_output(grad_input, format);
  kernels::table().pooling.max_backward(
      grad.const_data_ptr(), positions.const_data_ptr(), result.mutable_data_ptr(),
      to_scalar_type(grad.scalar_type()), pool_shape(self, grad, format),
      pool_window(kernel_size, stride, padding, dilation), getCurrentStream());
  copy_back(grad_input, result);
}

TORCH_IMPL_FUNC(avg_pool2d_out)
(const at::Tensor& self,
 int64_t kH,
 int64_t kW,
 int64_t dH,
 int64_t dW,
 int64_t padH,
 int64_t padW,
 bool,
 bool count_include_pad,
 std::optional<int64_t> divisor_override,
 const at::Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  const at::MemoryFormat format = image_format(self);
  const at::Tensor input = self.contiguous(format);
  const at::Tensor result = dense_output(out, format);
  kernels::table().pooling.average(input.const_data_ptr(), result.mutable_data_ptr(),
                                   to_scalar_type(self.scalar_type()),
                                   pool_shape(self, out, format),
                                   {.window = {kH, kW, dH, dW, padH, padW},
                                    .count_include_pad = count_include_pad,
                                    .divisor_override = divisor_override.value_or(0)},
                                   getCurrentStream());
  copy_back(out, result);
}

TORCH_IMPL_FUNC(avg_pool2d_backward_grad_input)
(const at::Tensor& grad_output,
 const at::Tensor& self,
 at::IntArrayRef kernel_size,
 at::IntArrayRef stride,
 at::IntArrayRef padding,
 bool,
 bool count_include_pad,
 std::optional<int64_t> divisor_override,
 const at::Tensor& grad_input) {
  if (grad_input.numel() == 0) {
    return;
  }
  const at::MemoryFormat format = image_format(self);
  const at::Tensor grad = grad_output.contiguous(format);
  const at::Tensor result = dense_output(grad_input, format);
  kernels::table().pooling.average_backward(
      grad.const_data_ptr(), result.mutable_data_ptr(), to_scalar_type(grad.scalar_type()),
      pool_shape(self, grad, format),
      {.window = pool_window(kernel_size, stride, padding, {}),
       .count_include_pad = count_include_pad,
       .divisor_override = divisor_override.value_or(0)},
      getCurrentStream());
  copy_back(grad_input, result);
}

at::Tensor& adaptive_avg_pool2d_out(const at::Tensor& self,
                                    at::IntArrayRef output_size,
                                    at::Tensor& out) {
  TORCH_CHECK(output_size.size() == 2, "adaptive_avg_pool2d: output_size must be 2");
  TORCH_CHECK(self.dim() == 3 || self.dim() == 4,
              "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got ", self.sizes());
  for (const int64_t d : {-2, -1}) {
    TORCH_CHECK(self.size(d) > 0, "adaptive_avg_pool2d(): Expected input to have non-zero size ",
                "for non-batch dimensions, but input has sizes ", self.sizes(), " with dimension ",
                d + self.dim(), " being empty");
  }
  TORCH_CHECK(self.dtype() == out.dtype(), "expected dtype ", self.dtype(), " for `output` but ",
              "got dtype ", out.dtype());
  auto size = self.sizes().vec();
  size[size.size() - 2] = output_size[0];
  size[size.size() - 1] = output_size[1];
  at::native::resize_output(out, size);
  if (out.numel() == 0) {
    return out;
  }
  const at::MemoryFormat format = image_format(self);
  const at::Tensor input = self.contiguous(format);
  const at::Tensor result = dense_output(out, format);
  kernels::table().pooling.adaptive_average(input.const_data_ptr(), result.mutable_data_ptr(),
                                            to_scalar_type(self.scalar_type()),
                                            pool_shape(self, out, format), getCurrentStream());
  copy_back(out, result);
  return out;
}

at::Tensor _adaptive_avg_pool2d(const at::Tensor& self, at::IntArrayRef output_size) {
  auto size = self.sizes().vec();
  if (size.size() >= 2 && output_size.size() == 2) {
    size[size.size() - 2] = output_size[0];
    size[size.size() - 1] = output_size[1];
  }
  at::Tensor out = at::empty(size, self.options(), image_format(self));
  adaptive_avg_pool2d_out(self, output_size, out);
  return out;
}

at::Tensor _adaptive_avg_pool2d_backward(const at::Tensor& grad_output, const at::Tensor& self) {
  TORCH_CHECK(grad_output.dim() == 3 || grad_output.dim() == 4,
              "adaptive_avg_pool2d_backward(): Expected 3D or 4D tensor, but got ",
              grad_output.sizes());
  const at::MemoryFormat format = image_format(self);
  at::Tensor grad_input = at::empty(self.sizes(), self.options(), format);
  if (grad_input.numel() == 0) {
    return grad_input;
  }
  const at::Tensor grad = grad_output.contiguous(format);
  kernels::table().pooling.adaptive_average_backward(
      grad.const_data_ptr(), grad_input.mutable_data_ptr(), to_scalar_type(grad.scalar_type()),
      pool_shape(self, grad, format), getCurrentStream());
  return grad_input;
}

}  // namespace anvil::native
