// Batch norm, training and evaluation, under each name that ATen gives it.
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/batch_norm.h"
#include "aten_ops/native/Loops.h"
#include "aten_ops/native/NormalizationUtils.h"
#include "aten_ops/native/Reduction.h"
#include "backend/CachingAllocator.h"
#include "backend/Stream.h"
#include "generated/normalization_native.h"

namespace anvil::native {
namespace {

// The input in a layout that the kernels walk, and how they see it.
struct Dense {
  at::Tensor tensor;
  kernels::BatchNormShape shape;
};

Dense dense(const at::Tensor& input, at::MemoryFormat format) {
  Dense result{input.contiguous(format), {}};
  result.shape.batch = input.size(0);
  result.shape.channels = input.size(1);
  result.shape.positions = 1;
  for (int64_t d = 2; d < input.dim(); ++d) {
    result.shape.positions *= input.size(d);
  }
  // With one position the layouts are the same; the rows are the longer walk.
  result.shape.channels_last =
      format != at::MemoryFormat::Contiguous || result.shape.positions == 1;
  return result;
}

at::MemoryFormat walked_format(const at::Tensor& input) {
  const at::MemoryFormat format = input.suggest_memory_format();
  return input.dim() >= 4 ? format : at::MemoryFormat::Contiguous;
}

void check_input(const at::Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, "batch_norm: expected an input of at least 2 dimensions ",
              "[batch, channels, ...], got ", input.sizes());
}

void check_vector(const char* what, const at::Tensor& vector, const at::Tensor& input) {
  TORCH_CHECK(!vector.defined() || vector.numel() == input.size(1), what, " should contain ",
              input.size(1), " elements not ", vector.defined() ? vector.numel() : 0);
}

// Biased variance and mean of each channel.
void batch_statistics(const at::Tensor& input, const at::Tensor& variance, const at::Tensor& mean) {
  at::native::DimMask mask;
  mask.flip();
  mask[1] = false;
  kernels::Reduction reduction =
      make_kernel_reduction(input, mask, /*keepdim=*/false, variance, mean, ReduceOrder::kAny);
  const c10::DataPtr scratch = allocate_scratch(reduction);
  kernels::table().reduce.variance(reduction, /*correction=*/0, /*square_root=*/false,
                                   getCurrentStream());
}

// What is left to do with a channel's variance (in `invstd`) and mean: the
// running statistics, and 1 / sqrt(variance + eps).
void finish_statistics(const at::Tensor& input,
                       const at::Tensor& mean,
                       const at::Tensor& invstd,
                       const at::Tensor& running_mean,
                       const at::Tensor& running_var,
                       double momentum,
                       double eps) {
  const at::ScalarType dtype = parameter_dtype("batch_norm", input, {&running_mean, &running_var});
  const bool tracks = running_mean.defined();
  const at::Tensor dense_mean = tracks ? running_mean.contiguous() : at::Tensor();
  const at::Tensor dense_var = tracks ? running_var.contiguous() : at::Tensor();
  kernels::table().batch_norm.finish_statistics(
      {.mean = mean.mutable_data_ptr(),
       .invstd = invstd.mutable_data_ptr(),
       .running_mean = mutable_data_or_null(dense_mean),
       .running_var = mutable_data_or_null(dense_var),
       .input_dtype = to_scalar_type(input.scalar_type()),
       .weight_dtype = to_scalar_type(dtype),
       .channels = input.size(1),
       .count = input.numel() / std::max<int64_t>(input.size(1), 1),
       .momentum = momentum,
       .eps = eps},
      getCurrentStream());
  if (tracks && !dense_mean.is_same(running_mean)) {
    running_mean.copy_(dense_mean);
  }
  if (tracks && !dense_var.is_same(running_var)) {
    running_var.copy_(dense_var);
  }
}

void statistics_from_running(const at::Tensor& input,
                             const at::Tensor& running_mean,
                             const at::Tensor& running_var,
                             double eps,
                             const at::Tensor& mean,
                             const at::Tensor& invstd) {
  TORCH_CHECK(
      running_mean.defined() && running_var.defined(),
      "batch_norm: expected running_mean and running_var to be defined when training=False");
  const at::ScalarType dtype = parameter_dtype("batch_norm", input, {&running_mean, &running_var});
  const at::Tensor running_mean_ = running_mean.contiguous();
  const at::Tensor running_var_ = running_var.contiguous();
  kernels::table().batch_norm.statistics_from_running(
      {.mean = mean.mutable_data_ptr(),
       .invstd = invstd.mutable_data_ptr(),
       .running_mean = running_mean_.mutable_data_ptr(),
       .running_var = running_var_.mutable_data_ptr(),
       .input_dtype = to_scalar_type(input.scalar_type()),
       .weight_dtype = to_scalar_type(dtype),
       .channels = input.size(1),
       .count = 0,
       .momentum = 0,
       .eps = eps},
      getCurrentStream());
}

at::Tensor defined_or_empty(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}

}  // namespace

std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> native_batch_norm_out(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight_opt,
    const std::optional<at::Tensor>& bias_opt,
    const std::optional<at::Tensor>& running_mean_opt,
    const std::optional<at::Tensor>& running_var_opt,
    bool training,
    double momentum,
    double eps,
    at::Tensor& out,
    at::Tensor& save_mean,
    at::Tensor& save_invstd) {
  check_input(input);
  const at::Tensor weight = contiguous_or_undefined(weight_opt);
  const at::Tensor bias = contiguous_or_undefined(bias_opt);
  const at::Tensor running_mean = defined_or_empty(running_mean_opt);
  const at::Tensor running_var = defined_or_empty(running_var_opt);
  TORCH_CHECK(running_mean.defined() == running_var.defined(),
              "batch_norm: expected running_mean and running_var to be both defined, or neither");
  check_vector("weight", weight, input);
  check_vector("bias", bias, input);
  check_vector("running_mean", running_mean, input);
  check_vector("running_var", running_var, input);
  const at::ScalarType weight_dtype = parameter_dtype("batch_norm", input, {&weight, &bias});

  TORCH_CHECK(out.scalar_type() == input.scalar_type(), "expected scalar type ",
              input.scalar_type(), " but found ", out.scalar_type());
  const int64_t channels = input.size(1);
  at::native::resize_output(out, input.sizes());
  at::native::resize_output(save_mean, {channels});
  at::native::resize_output(save_invstd, {channels});
  const auto is_statistics = [&](const at::Tensor& saved) {
    return saved.is_contiguous() && saved.scalar_type() == statistics_dtype(input);
  };
  if (!is_statistics(save_mean) || !is_statistics(save_invstd)) {
    // Given outputs of another dtype or with strides: the kernels write neither.
    const auto options = input.options().dtype(statistics_dtype(input));
    at::Tensor mean = at::empty({channels}, options);
    at::Tensor invstd = at::empty({channels}, options);
    native_batch_norm_out(input, weight_opt, bias_opt, running_mean_opt, running_var_opt, training,
                          momentum, eps, out, mean, invstd);
    save_mean.copy_(mean);
    save_invstd.copy_(invstd);
    return {out, save_mean, save_invstd};
  }
  if (input.numel() == 0) {
    return {out, save_mean, save_invstd};
  }
  const at::MemoryFormat format = walked_format(input);
  const Dense x = dense(input, format);
  if (training) {
    batch_statistics(x.tensor, save_invstd, save_mean);
    finish_statistics(x.tensor, save_mean, save_invstd, running_mean, running_var, momentum, eps);
  } else {
    statistics_from_running(x.tensor, running_mean, running_var, eps, save_mean, save_invstd);
  }
  const bool in_place = out.is_contiguous(format);
  const at::Tensor result = in_place ? out : at::empty_like(x.tensor, format);
  kernels::table().batch_norm.normalize({.input = x.tensor.const_data_ptr(),
                                         .weight = data_or_null(weight),
                                         .bias = data_or_null(bias),
                                         .mean = save_mean.const_data_ptr(),
                                         .invstd = save_invstd.const_data_ptr(),
                                         .output = result.mutable_data_ptr(),
                                         .input_dtype = to_scalar_type(input.scalar_type()),
                                         .weight_dtype = to_scalar_type(weight_dtype),
                                         .shape = x.shape},
                                        getCurrentStream());
  if (!in_place) {
    out.copy_(result);
  }
  return {out, save_mean, save_invstd};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var,
    bool training,
    double momentum,
    double eps) {
  check_input(input);
  at::Tensor out = at::empty_like(input);
  const auto options = input.options().dtype(statistics_dtype(input));
  at::Tensor save_mean = at::empty({input.size(1)}, options);
  at::Tensor save_invstd = at::empty({input.size(1)}, options);
  native_batch_norm_out(input, weight, bias, running_mean, running_var, training, momentum, eps,
                        out, save_mean, save_invstd);
  return {out, save_mean, save_invstd};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> _native_batch_norm_legit(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    at::Tensor& running_mean,
    at::Tensor& running_var,
    bool training,
    double momentum,
    double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> _native_batch_norm_legit_out(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    at::Tensor& running_mean,
    at::Tensor& running_var,
    bool training,
    double momentum,
    double eps,
    at::Tensor& out,
    at::Tensor& save_mean,
    at::Tensor& save_invstd) {
  return native_batch_norm_out(input, weight, bias, running_mean, running_var, training, momentum,
                               eps, out, save_mean, save_invstd);
}

std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> _native_batch_norm_legit_no_stats_out(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    bool training,
    double momentum,
    double eps,
    at::Tensor& out,
    at::Tensor& save_mean,
    at::Tensor& save_invstd) {
  return native_batch_norm_out(input, weight, bias, {}, {}, training, momentum, eps, out, save_mean,
                               save_invstd);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> _native_batch_norm_legit_no_stats(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    bool training,
    double momentum,
    double eps) {
  return native_batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> _batch_norm_with_update(
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias,
    at::Tensor& running_mean,
    at::Tensor& running_var,
    double momentum,
    double eps) {
  auto [out, save_mean, save_invstd] = native_batch_norm(
      input, weight, bias, running_mean, running_var, /*training=*/true, momentum, eps);
  return {out, save_mean, save_invstd, at::empty({0}, input.options().dtype(at::kByte))};
}

std::tuple<at::Tensor, at::Tensor> batch_norm_update_stats(
    const at::Tensor& input,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var,
    double momentum) {
  check_input(input);
  const auto options = input.options().dtype(statistics_dtype(input));
  at::Tensor mean = at::empty({input.size(1)}, options);
  at::Tensor variance = at::empty({input.size(1)}, options);
  batch_statistics(input, variance, mean);
  const at::Tensor overwritten = variance.clone();
  finish_statistics(input, mean, overwritten, defined_or_empty(running_mean),
                    defined_or_empty(running_var), momentum, /*eps=*/0);
  return {mean, variance};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm_backward(
    const at::Tensor& grad_out,
    const at::Tensor& input,
    const std::optional<at::Tensor>& weight_opt,
    const std::optional<at::Tensor>& running_mean_opt,
    const std::optional<at::Tensor>& running_var_opt,
    const std::optional<at::Tensor>& save_mean_opt,
    const std::optional<at::Tensor>& save_invstd_opt,
    bool train,
    double eps,
    std::array<bool, 3> output_mask) {
  check_input(input);
  const at::Tensor weight = contiguous_or_undefined(weight_opt);
  const at::ScalarType weight_dtype = parameter_dtype("batch_norm", input, {&weight});
  const int64_t channels = input.size(1);
  const auto options = input.options().dtype(statistics_dtype(input));

  at::Tensor mean = contiguous_or_undefined(save_mean_opt);
  at::Tensor invstd = contiguous_or_undefined(save_invstd_opt);
  const at::MemoryFormat format = walked_format(input);
  const Dense x = dense(input, format);
  const at::Tensor grad = grad_out.contiguous(format);
  const bool saved = mean.defined() && mean.numel() != 0 && invstd.defined() && invstd.numel() != 0;
  if (!saved || !train) {
    mean = at::empty({channels}, options);
    invstd = at::empty({channels}, options);
    statistics_from_running(input, defined_or_empty(running_mean_opt),
                            defined_or_empty(running_var_opt), eps, mean, invstd);
  }

  at::Tensor grad_input;
  at::Tensor grad_weight;
  at::Tensor grad_bias;
  if (output_mask[0]) {
    grad_input = at::empty_like(x.tensor, format);
  }
  const auto parameter_options = input.options().dtype(weight_dtype);
  const auto parameter_gradient = [&] {
    return input.numel() == 0 ? at::zeros({channels}, parameter_options)
                              : at::empty({channels}, parameter_options);
  };
  if (output_mask[1]) {
    grad_weight = parameter_gradient();
  }
  if (output_mask[2]) {
    grad_bias = parameter_gradient();
  }
  if (input.numel() == 0) {
    return {grad_input, grad_weight, grad_bias};
  }
  const auto& batch_norm = kernels::table().batch_norm;
  const at::Tensor sums = at::empty({2, channels}, options);
  const c10::DataPtr scratch =
      getDeviceAllocator()->allocate(batch_norm.backward_scratch_bytes(x.shape));
  batch_norm.backward({.grad_output = grad.const_data_ptr(),
                       .input = x.tensor.const_data_ptr(),
                       .weight = data_or_null(weight),
                       .mean = mean.const_data_ptr(),
                       .invstd = invstd.const_data_ptr(),
                       .grad_input = mutable_data_or_null(grad_input),
                       .grad_weight = mutable_data_or_null(grad_weight),
                       .grad_bias = mutable_data_or_null(grad_bias),
                       .sums = sums.mutable_data_ptr(),
                       .scratch = scratch.get(),
                       .train = train,
                       .input_dtype = to_scalar_type(input.scalar_type()),
                       .weight_dtype = to_scalar_type(weight_dtype),
                       .shape = x.shape},
                      getCurrentStream());
  return {grad_input, grad_weight, grad_bias};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(
    const at::Tensor& grad_out,
    const at::Tensor& input,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& running_mean,
    const std::optional<at::Tensor>& running_var,
    const std::optional<at::Tensor>& save_mean,
    const std::optional<at::Tensor>& save_var,
    bool update,
    double eps,
    std::array<bool, 3> output_mask,
    const at::Tensor& /*reserve*/) {
  return native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean,
                                    save_var, update, eps, output_mask);
}

}  // namespace anvil::native
