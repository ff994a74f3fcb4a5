// masked_fill_ and binary cross-entropy, which have no shared ATen function.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/empty_like.h>

#include "aten_ops/kernels/pointwise.h"
#include "aten_ops/native/CheckedScalar.h"
#include "aten_ops/native/Loops.h"
#include "backend/Functions.h"
#include "generated/pointwise_native.h"

namespace anvil::native {
at::Tensor& masked_fill__Scalar(at::Tensor& self, const at::Tensor& mask, const at::Scalar& value) {
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_fill_ only supports boolean masks, but got mask with dtype ", mask.dtype());
  TORCH_CHECK(self.device() == mask.device(),
              "expected self and mask to be on the same device, but got mask on ", mask.device(),
              " and self on ", self.device());
  if (at::has_internal_overlap(self) == at::MemOverlap::Yes) {
    TORCH_WARN(
        "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor "
        "before performing this operation. This also applies to advanced indexing e.g. "
        "tensor[mask] = scalar");
  }
  at::assert_no_partial_overlap(self, mask);
  const auto expanded = at::expand_inplace(self, mask, "masked_fill_");
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(self)
                  .add_const_input(self)
                  .add_const_input(*expanded)
                  .build();
  check_fits(value, self.scalar_type());
  launch_as(iter, self.scalar_type(), kernels::table().pointwise.masked_fill, to_scalar(value));
  return self;
}

at::Tensor& masked_fill__Tensor(at::Tensor& self, const at::Tensor& mask, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  // `value` may be on the host, `self` not. The mask is compared with `self` below.
  TORCH_CHECK(self.device().type() == kDeviceType,
              "masked_fill_: Expected inputs to be on same device, but got self on ", self.device(),
              " and value on ", value.device());
  return masked_fill__Scalar(self, mask, value.item());
}

namespace {

void check_targets(const at::Tensor& input, const at::Tensor& target) {
  TORCH_CHECK(input.sizes() == target.sizes(), "Using a target size (", target.sizes(),
              ") that is different to the input size (", input.sizes(),
              ") is deprecated. Please ensure they have the same size.");
}

}  // namespace

at::Tensor& binary_cross_entropy_out(const at::Tensor& self,
                                     const at::Tensor& target,
                                     const std::optional<at::Tensor>& weight,
                                     int64_t reduction,
                                     at::Tensor& out) {
  check_targets(self, target);
  at::Tensor loss = reduction == at::Reduction::None ? out : at::empty_like(self);
  if (reduction == at::Reduction::None) {
    out.resize_as_(self);
  }
  auto iter = at::TensorIteratorConfig()
                  .add_output(loss)
                  .add_const_input(self)
                  .add_const_input(target)
                  .build();
  launch(iter, kernels::table().pointwise.binary_cross_entropy);
  if (weight.has_value() && weight->defined()) {
    loss.mul_(*weight);
  }
  if (reduction != at::Reduction::None) {
    const at::Tensor reduced = reduction == at::Reduction::Mean ? loss.mean() : loss.sum();
    out.resize_({}).copy_(reduced);
  }
  return out;
}

at::Tensor binary_cross_entropy(const at::Tensor& self,
                                const at::Tensor& target,
                                const std::optional<at::Tensor>& weight,
                                int64_t reduction) {
  at::Tensor out = at::empty_like(self);
  return binary_cross_entropy_out(self, target, weight, reduction, out);
}

at::Tensor& binary_cross_entropy_backward_grad_input(const at::Tensor& grad_output,
                                                     const at::Tensor& self,
                                                     const at::Tensor& target,
                                                     const std::optional<at::Tensor>& weight,
                                                     int64_t reduction,
                                                     at::Tensor& grad_input) {
  check_targets(self, target);
  const double norm =
      reduction == at::Reduction::Mean ? 1.0 / static_cast<double>(self.numel()) : 1.0;
  auto iter = at::TensorIteratorConfig()
                  .add_output(grad_input)
                  .add_const_input(self)
                  .add_const_input(target)
                  .add_owned_const_input(grad_output.expand_as(self))
                  .build();
  launch(iter, kernels::table().pointwise.binary_cross_entropy_backward, kernels::Scalar(norm));
  if (weight.has_value() && weight->defined()) {
    grad_input.mul_(*weight);
  }
  return grad_input;
}

at::Tensor binary_cross_entropy_backward(const at::Tensor& grad_output,
                                         const at::Tensor& self,
                                         const at::Tensor& target,
                                         const std::optional<at::Tensor>& weight,
                                         int64_t reduction) {
  at::Tensor grad_input = at::empty_like(self);
  return binary_cross_entropy_backward_grad_input(grad_output, self, target, weight, reduction,
                                                  grad_input);
}

}  // namespace anvil::native
