// Convolution: memory format and outputs; the work is library::Dnn's.
//
// at::convolution has checked most shapes, wrapped one dimension as two, and
// served empty inputs, when it calls these. What it leaves to the backend is
// checked here: a library finds it only when the work runs, as an error of the
// stream.
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/empty.h>

#include <algorithm>

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

void check_dtypes(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
  const at::ScalarType dtype = input.scalar_type();
  TORCH_CHECK(dtype == weight.scalar_type(), "Input type (", input.toString(),
              ") and weight type (", weight.toString(), ") should be the same");
  TORCH_CHECK(!bias.defined() || dtype == bias.scalar_type(), "Input type (", input.toString(),
              ") and bias type (", bias.toString(), ") should be the same");
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16,
      "\"convolution\" not implemented for '", dtype, "'");
}

bool all_at_least(at::IntArrayRef values, int64_t least) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= least; });
}

void check_parameters(const library::Convolution& c, int64_t dims) {
  const auto length = static_cast<size_t>(dims);
  TORCH_CHECK(c.stride.size() == length && c.padding.size() == length &&
                  c.dilation.size() == length && c.output_padding.size() == length,
              "expected stride, padding, dilation and output_padding of ", dims,
              " values to match the convolution dimensions");
  TORCH_CHECK(all_at_least(c.stride, 1), "non-positive stride is not supported");
  TORCH_CHECK(all_at_least(c.padding, 0), "negative padding is not supported");
  TORCH_CHECK(all_at_least(c.dilation, 1), "dilation should be greater than zero, but got ",
              at::IntArrayRef(c.dilation));
  TORCH_CHECK(all_at_least(c.output_padding, 0), "negative output_padding is not supported");
  TORCH_CHECK(c.groups > 0, "non-positive groups is not supported");
  for (int64_t d = 0; c.transposed && d < dims; ++d) {
    TORCH_CHECK(c.output_padding[d] < std::max(c.stride[d], c.dilation[d]),
                "output padding must be smaller than either stride or dilation, but got "
                "output_padding: ",
                at::IntArrayRef(c.output_padding), " stride: ", at::IntArrayRef(c.stride),
                " dilation: ", at::IntArrayRef(c.dilation));
  }
}

// The output's sizes, after everything that decides them was checked.
std::vector<int64_t> output_sizes(const library::Convolution& c,
                                  const at::Tensor& input,
                                  const at::Tensor& weight) {
  const int64_t dims = input.dim() - 2;
  TORCH_CHECK((dims == 2 || dims == 3) && weight.dim() == input.dim(),
              "Expected 4 or 5 dimensions of input and weight, but got input of size ",
              input.sizes(), " and weight of size ", weight.sizes());
  check_parameters(c, dims);
  TORCH_CHECK(weight.size(0) % c.groups == 0, "Given groups=", c.groups,
              ", expected weight of size ", weight.sizes(),
              " to be divisible by it at dimension 0");
  const int64_t channels = c.transposed ? weight.size(0) : weight.size(1) * c.groups;
  TORCH_CHECK(input.size(1) == channels, "Given groups=", c.groups, ", transposed=", c.transposed,
              ", weight of size ", weight.sizes(), ", expected input", input.sizes(), " to have ",
              channels, " channels, but got ", input.size(1), " channels instead");
  const at::IntArrayRef kernel = weight.sizes().slice(2);
  TORCH_CHECK(all_at_least(kernel, 1), "kernel size should be greater than zero, but got ", kernel);
  std::vector<int64_t> sizes =
      c.transposed ? at::native::conv_input_size(input.sizes(), weight.sizes(), c.padding,
                                                 c.output_padding, c.stride, c.dilation, c.groups)
                   : at::native::conv_output_size(input.sizes(), weight.sizes(), c.padding,
                                                  c.stride, c.dilation);
  TORCH_CHECK(all_at_least(at::IntArrayRef(sizes).slice(2), 1) || input.numel() == 0,
              "Given input size per channel: ", input.sizes().slice(2),
              ". Calculated output size per channel: ", at::IntArrayRef(sizes).slice(2),
              ". Output size is too small");
  return sizes;
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
  const at::Tensor bias_or_none =
      bias.has_value() && bias->defined() ? bias->contiguous() : at::Tensor();
  check_dtypes(input, weight, bias_or_none);
  const library::Convolution convolution =
      describe(stride, padding, dilation, transposed, output_padding, groups);
  const std::vector<int64_t> sizes = output_sizes(convolution, input, weight);
  TORCH_CHECK(
      !bias_or_none.defined() || (bias_or_none.dim() == 1 && bias_or_none.size(0) == sizes[1]),
      "Given weight of size ", weight.sizes(), ", expected bias to be 1-dimensional with ",
      sizes[1], " elements, but got bias of size ", bias_or_none.sizes(), " instead");
  const at::MemoryFormat format = format_of(input, weight);
  at::Tensor output = at::empty(sizes, input.options().memory_format(format));
  if (output.numel() == 0) {
    return output;
  }
  library::dnn().convolution_forward(convolution, input.contiguous(format),
                                     weight.contiguous(format), bias_or_none, output);
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
  check_dtypes(input, weight, at::Tensor());
  TORCH_CHECK(grad_output.scalar_type() == input.scalar_type(), "expected scalar type ",
              input.scalar_type(), " of grad_output, but found ", grad_output.scalar_type());
  const library::Convolution convolution =
      describe(stride, padding, dilation, transposed, output_padding, groups);
  const std::vector<int64_t> sizes = output_sizes(convolution, input, weight);
  TORCH_CHECK(grad_output.sizes() == at::IntArrayRef(sizes), "Expected grad_output of size ",
              at::IntArrayRef(sizes), ", but got ", grad_output.sizes());
  const at::MemoryFormat format = format_of(input, weight);
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
