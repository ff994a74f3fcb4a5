// Convolution: memory format and outputs; the work is library::Dnn's.
//
// at::convolution has checked shapes and dtypes, wrapped one dimension as two,
// and served empty inputs, when it calls these.
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/empty.h>

#include "aten_ops/library/dnn.h"
#include "generated/convolution_native.h"

namespace anvil::native {
namespace {

library::Convolution describe(at::IntArrayRef stride,
                              at::IntArrayRef padding,
                              at::IntArrayRef dilation,
                              bool transposed,
                              at::IntArrayRef output_padding,
                              int64_t groups) {
  return {{stride.begin(), stride.end()},
          {padding.begin(), padding.end()},
          {dilation.begin(), dilation.end()},
          {output_padding.begin(), output_padding.end()},
          transposed,
          groups};
}

void check_dtype(at::ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16,
      "\"convolution\" not implemented for '", dtype, "'");
}

// Channels last if the input or the weight is, as CUDA's convolutions.
at::MemoryFormat format_of(const at::Tensor& input, const at::Tensor& weight) {
  for (const at::Tensor& tensor : {input, weight}) {
    const at::MemoryFormat format = tensor.suggest_memory_format();
    if (format != at::MemoryFormat::Contiguous) {
      return format;
    }
  }
  return at::MemoryFormat::Contiguous;
}

at::Tensor empty_like_in(const at::Tensor& tensor, at::MemoryFormat format) {
  return at::empty(tensor.sizes(), tensor.options().memory_format(format));
}

}  // namespace

at::Tensor convolution_overrideable(const at::Tensor& input,
                                    const at::Tensor& weight,
                                    const std::optional<at::Tensor>& bias,
                                    at::IntArrayRef stride,
                                    at::IntArrayRef padding,
                                    at::IntArrayRef dilation,
                                    bool transposed,
                                    at::IntArrayRef output_padding,
                                    int64_t groups) {
  check_dtype(input.scalar_type());
  const at::MemoryFormat format = format_of(input, weight);
  const std::vector<int64_t> sizes =
      transposed
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), padding, output_padding,
                                        stride, dilation, groups)
          : at::native::conv_output_size(input.sizes(), weight.sizes(), padding, stride, dilation);
  at::Tensor output = at::empty(sizes, input.options().memory_format(format));
  if (output.numel() == 0) {
    return output;
  }
  const at::Tensor bias_or_none =
      bias.has_value() && bias->defined() ? bias->contiguous() : at::Tensor();
  library::dnn().convolution_forward(
      describe(stride, padding, dilation, transposed, output_padding, groups),
      input.contiguous(format), weight.contiguous(format), bias_or_none, output);
  return output;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_overrideable(
    const at::Tensor& grad_output,
    const at::Tensor& input,
    const at::Tensor& weight,
    at::IntArrayRef stride,
    at::IntArrayRef padding,
    at::IntArrayRef dilation,
    bool transposed,
    at::IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  check_dtype(grad_output.scalar_type());
  const at::MemoryFormat format = format_of(input, weight);
  const library::Convolution convolution =
      describe(stride, padding, dilation, transposed, output_padding, groups);
  const at::Tensor grad = grad_output.contiguous(format);
  at::Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    grad_input = empty_like_in(input, format);
    library::dnn().convolution_backward_data(convolution, grad, weight.contiguous(format),
                                             grad_input);
  }
  if (output_mask[1]) {
    grad_weight = empty_like_in(weight, format);
    library::dnn().convolution_backward_weight(convolution, grad, input.contiguous(format),
                                               grad_weight);
  }
  if (output_mask[2]) {
    grad_bias = at::empty({grad.size(1)}, grad.options().memory_format(std::nullopt));
    library::dnn().convolution_backward_bias(grad, grad_bias);
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace anvil::native
