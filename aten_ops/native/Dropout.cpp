// Dropout and its gradient.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>

#include "aten_ops/kernels/dropout.h"
#include "aten_ops/native/Loops.h"
#include "aten_ops/native/RandomGrid.h"
#include "generated/random_native.h"

namespace anvil::native {
namespace {

void check_dtype(at::ScalarType dtype) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16,
      "\"fused_dropout\" not implemented for '", dtype, "'");
}

// Elements that a thread of CUDA's kernel takes at once: 16 bytes' worth, less
// where the address or the number of elements does not allow it. Which draw
// goes to which element depends on it.
int vector_size(const at::Tensor& self) {
  const auto address = reinterpret_cast<uintptr_t>(self.const_data_ptr());
  const auto bytes = static_cast<int>(self.element_size());
  int size = 16 / bytes;
  while (size > 1 && (address % (size * bytes) != 0 || self.numel() % size != 0)) {
    size /= 2;
  }
  return size;
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input,
                                                  double p,
                                                  std::optional<bool> train) {
  const auto mask_options = input.options().dtype(at::kBool);
  if (train.has_value() && !*train) {
    return {input.clone(), at::ones_like(input, mask_options)};
  }
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 1) {
    return {at::zeros_like(input), at::zeros_like(input, mask_options)};
  }
  check_dtype(input.scalar_type());
  at::Tensor output = at::empty_like(input);
  at::Tensor mask = at::empty_like(input, mask_options);
  const int64_t numel = input.numel();
  if (numel == 0) {
    return {output, mask};
  }
  const kernels::RandomGrid grid = random_grid(numel);
  const kernels::PhiloxState state = philox_state(std::nullopt, grid.offset_increment(numel, 4));
  // A dense input and its outputs are numbered in memory order where a thread
  // takes vectors, else in the order of the dimensions.
  const bool dense = input.is_non_overlapping_and_dense();
  const int vector = dense ? vector_size(input) : 1;
  if (vector > 1 || input.is_contiguous()) {
    kernels::table().dropout.dropout(input.const_data_ptr(), output.data_ptr(),
                                     mask.data_ptr<bool>(), to_scalar_type(input.scalar_type()),
                                     numel, 1 - p, vector, grid, state, getCurrentStream());
    return {output, mask};
  }
  const at::Tensor in_order = input.contiguous();
  const at::Tensor output_in_order = at::empty_like(in_order);
  const at::Tensor mask_in_order = at::empty_like(in_order, mask_options);
  kernels::table().dropout.dropout(
      in_order.const_data_ptr(), output_in_order.data_ptr(), mask_in_order.data_ptr<bool>(),
      to_scalar_type(input.scalar_type()), numel, 1 - p, 1, grid, state, getCurrentStream());
  output.copy_(output_in_order);
  mask.copy_(mask_in_order);
  return {output, mask};
}

at::Tensor native_dropout_backward(const at::Tensor& grad_output,
                                   const at::Tensor& mask,
                                   double scale) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "Mask should be Bool Scalar Type, but got ",
              mask.scalar_type());
  // As CUDA's: contiguous or channels last, whatever else the gradient is.
  at::Tensor result = at::empty_like(grad_output, grad_output.suggest_memory_format());
  const bool one_run = grad_output.sizes() == mask.sizes() &&
                       grad_output.strides() == mask.strides() &&
                       grad_output.strides() == result.strides();
  if (!one_run) {
    return at::mul_out(result, grad_output, mask).mul_(scale);
  }
  check_dtype(grad_output.scalar_type());
  if (result.numel() > 0) {
    kernels::table().dropout.masked_scale(
        grad_output.const_data_ptr(), mask.const_data_ptr<bool>(), result.data_ptr(),
        to_scalar_type(grad_output.scalar_type()), result.numel(), scale, getCurrentStream());
  }
  return result;
}

}  // namespace anvil::native
