// Layer norm.
#include <ATen/core/Tensor.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/layer_norm.h"
#include "aten_ops/native/Loops.h"
#include "aten_ops/native/NormalizationUtils.h"
#include "backend/CachingAllocator.h"
#include "backend/Stream.h"
#include "generated/normalization_native.h"

namespace anvil::native {

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& input,
    at::IntArrayRef normalized_shape,
    const std::optional<at::Tensor>& weight_opt,
    const std::optional<at::Tensor>& bias_opt,
    double eps) {
  const at::Tensor weight = contiguous_or_undefined(weight_opt);
  const at::Tensor bias = contiguous_or_undefined(bias_opt);
  const auto [rows, columns] =
      at::native::_check_layer_norm_inputs(input, normalized_shape, weight, bias);
  const at::ScalarType weight_dtype = parameter_dtype("layer_norm", input, {&weight, &bias});

  const at::Tensor x = input.contiguous();
  at::Tensor output = at::empty_like(x, at::MemoryFormat::Contiguous);
  auto statistics_shape = input.sizes().vec();
  std::fill(statistics_shape.end() - static_cast<int64_t>(normalized_shape.size()),
            statistics_shape.end(), 1);
  const auto options = x.options().dtype(statistics_dtype(x));
  at::Tensor mean = at::empty(statistics_shape, options);
  at::Tensor rstd = at::empty(statistics_shape, options);
  if (rows > 0 && columns > 0) {
    kernels::table().layer_norm.forward({.input = x.const_data_ptr(),
                                         .weight = data_or_null(weight),
                                         .bias = data_or_null(bias),
                                         .output = output.mutable_data_ptr(),
                                         .mean = mean.mutable_data_ptr(),
                                         .rstd = rstd.mutable_data_ptr(),
                                         .dtype = to_scalar_type(x.scalar_type()),
                                         .weight_dtype = to_scalar_type(weight_dtype),
                                         .rows = rows,
                                         .columns = columns,
                                         .eps = eps},
                                        getCurrentStream());
  }
  return {output, mean, rstd};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm_backward(
    const at::Tensor& grad_out,
    const at::Tensor& input,
    at::IntArrayRef normalized_shape,
    const at::Tensor& mean,
    const at::Tensor& rstd,
    const std::optional<at::Tensor>& weight_opt,
    const std::optional<at::Tensor>& bias_opt,
    std::array<bool, 3> output_mask) {
  const at::Tensor weight = contiguous_or_undefined(weight_opt);
  const at::Tensor bias = contiguous_or_undefined(bias_opt);
  const auto [rows, columns] =
      at::native::_check_layer_norm_inputs(input, normalized_shape, weight, bias);
  const at::ScalarType weight_dtype = parameter_dtype("layer_norm", input, {&weight, &bias});

  const at::Tensor x = input.contiguous();
  const at::Tensor grad = grad_out.contiguous();
  const at::Tensor mean_ = mean.contiguous();
  const at::Tensor rstd_ = rstd.contiguous();
  at::Tensor grad_input;
  at::Tensor grad_weight;
  at::Tensor grad_bias;
  if (output_mask[0]) {
    grad_input = at::empty_like(x, at::MemoryFormat::Contiguous);
  }
  const bool empty = rows == 0 || columns == 0;
  const auto parameter_gradient = [&](const at::Tensor& parameter) {
    return empty ? at::zeros_like(parameter, at::MemoryFormat::Contiguous)
                 : at::empty_like(parameter, at::MemoryFormat::Contiguous);
  };
  if (output_mask[1] && weight.defined()) {
    grad_weight = parameter_gradient(weight);
  }
  if (output_mask[2] && bias.defined()) {
    grad_bias = parameter_gradient(bias);
  }
  if (!empty) {
    const auto& layer_norm = kernels::table().layer_norm;
    const c10::DataPtr scratch =
        getDeviceAllocator()->allocate(layer_norm.backward_scratch_bytes(rows, columns));
    layer_norm.backward({.grad_output = grad.const_data_ptr(),
                         .input = x.const_data_ptr(),
                         .weight = data_or_null(weight),
                         .mean = mean_.const_data_ptr(),
                         .rstd = rstd_.const_data_ptr(),
                         .grad_input = mutable_data_or_null(grad_input),
                         .grad_weight = mutable_data_or_null(grad_weight),
                         .grad_bias = mutable_data_or_null(grad_bias),
                         .scratch = scratch.get(),
                         .dtype = to_scalar_type(x.scalar_type()),
                         .weight_dtype = to_scalar_type(weight_dtype),
                         .rows = rows,
                         .columns = columns},
                        getCurrentStream());
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace anvil::native
