// Negative log likelihood over [batch, classes] and [batch, classes, height, width].
// Sums in a fixed order: no alert for nll_loss2d, where CUDA's kernel has one.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include <limits>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/nll_loss.h"
#include "aten_ops/native/ContiguousOutput.h"
#include "aten_ops/native/Loops.h"
#include "backend/Stream.h"
#include "generated/loss_native.h"

namespace anvil::native {
namespace {

// The arguments in the layout of the kernels, kept alive.
struct Problem {
  at::Tensor input;
  at::Tensor target;
  at::Tensor weight;
  kernels::NllLoss loss;
};

Problem make_problem(const at::Tensor& self,
                     const at::Tensor& target,
                     const at::Tensor& weight,
                     int64_t reduction,
                     int64_t ignore_index) {
  TORCH_CHECK(target.scalar_type() == at::kLong || target.scalar_type() == at::kByte,
              "nll_loss: expected targets of dtype Long or Byte, got ", target.scalar_type());
  TORCH_CHECK(!weight.defined() || weight.scalar_type() == self.scalar_type(),
              "nll_loss: expected weights of the input's dtype ", self.scalar_type(), ", got ",
              weight.defined() ? weight.scalar_type() : self.scalar_type());
  Problem problem{self.contiguous(),
                  target.contiguous(),
                  weight.defined() ? weight.contiguous() : at::Tensor(),
                  {}};
  kernels::NllLoss& loss = problem.loss;
  loss.input = problem.input.const_data_ptr();
  loss.target = problem.target.const_data_ptr();
  loss.weight = problem.weight.defined() ? problem.weight.const_data_ptr() : nullptr;
  loss.dtype = to_scalar_type(self.scalar_type());
  loss.target_dtype = to_scalar_type(target.scalar_type());
  loss.batch = self.dim() == 1 ? 1 : self.size(0);
  loss.classes = self.dim() == 1 ? self.size(0) : self.size(1);
  loss.positions = self.dim() == 4 ? self.size(2) * self.size(3) : 1;
  loss.ignore_index = ignore_index;
  // A single sample without a batch has one loss, whatever the reduction.
  loss.reduction = static_cast<kernels::LossReduction>(reduction);
  return problem;
}

void forward(const at::Tensor& self,
             const at::Tensor& target,
             const at::Tensor& weight,
             int64_t reduction,
             int64_t ignore_index,
             const at::Tensor& output,
             const at::Tensor& total_weight) {
  const bool each = reduction == at::Reduction::None && self.dim() != 1;
  if (each || target.numel() == 0) {
    total_weight.zero_();
  }
  if (target.numel() == 0) {
    if (!each) {
      output.fill_(reduction == at::Reduction::Mean ? std::numeric_limits<double>::quiet_NaN()
                                                    : 0.0);
    }
    return;
  }
  Problem problem = make_problem(self, target, weight, reduction, ignore_index);
  if (!each && reduction == at::Reduction::None) {
    problem.loss.reduction = kernels::LossReduction::kSum;
  }
  with_contiguous_output(output, [&](const at::Tensor& out) {
    kernels::table().nll_loss.forward(problem.loss, out.mutable_data_ptr(),
                                      total_weight.mutable_data_ptr(), getCurrentStream());
  });
}

void backward(const at::Tensor& grad_output,
              const at::Tensor& self,
              const at::Tensor& target,
              const at::Tensor& weight,
              int64_t reduction,
              int64_t ignore_index,
              const at::Tensor& total_weight,
              const at::Tensor& grad_input) {
  if (self.numel() == 0) {
    return;
  }
  const Problem problem = make_problem(self, target, weight, reduction, ignore_index);
  const at::Tensor grad = grad_output.contiguous();
  with_contiguous_output(grad_input, [&](const at::Tensor& out) {
    kernels::table().nll_loss.backward(problem.loss, grad.const_data_ptr(),
                                       total_weight.const_data_ptr(), out.mutable_data_ptr(),
                                       getCurrentStream());
  });
}

void check_2d(const at::Tensor& self, const at::Tensor& target, const at::Tensor& weight) {
  TORCH_CHECK(target.dim() == 3,
              "only batches of spatial targets supported (3D tensors) but got targets of size: : ",
              target.sizes());
  TORCH_CHECK(self.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of size: ",
              self.sizes());
  TORCH_CHECK(!weight.defined() || weight.numel() == self.size(1),
              "weight tensor should be defined either for all or no classes");
  TORCH_CHECK(self.size(0) == target.size(0) && self.size(2) == target.size(1) &&
                  self.size(3) == target.size(2),
              "input and target batch or spatial sizes don't match: target ", target.sizes(),
              ", input ", self.sizes());
}

at::Tensor or_undefined(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}
at::Tensor or_undefined(at::OptionalTensorRef tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}

}  // namespace

TORCH_IMPL_FUNC(nll_loss_forward_output)
(const at::Tensor& self,
 const at::Tensor& target,
 at::OptionalTensorRef weight,
 int64_t reduction,
 int64_t ignore_index,
 const at::Tensor& output,
 const at::Tensor& total_weight) {
  forward(self, target, or_undefined(weight), reduction, ignore_index, output, total_weight);
}

TORCH_IMPL_FUNC(nll_loss_backward_grad_input)
(const at::Tensor& grad_output,
 const at::Tensor& self,
 const at::Tensor& target,
 at::OptionalTensorRef weight,
 int64_t reduction,
 int64_t ignore_index,
 const at::Tensor& total_weight,
 const at::Tensor& grad_input) {
  backward(grad_output, self, target, or_undefined(weight), reduction, ignore_index, total_weight,
           grad_input);
}

std::tuple<at::Tensor&, at::Tensor&> nll_loss2d_forward_output(
    const at::Tensor& self,
    const at::Tensor& target,
    const std::optional<at::Tensor>& weight_opt,
    int64_t reduction,
    int64_t ignore_index,
    at::Tensor& output,
    at::Tensor& total_weight) {
  const at::Tensor weight = or_undefined(weight_opt);
  check_2d(self, target, weight);
  at::native::resize_output(output,
                            reduction == at::Reduction::None ? target.sizes() : at::IntArrayRef{});
  at::native::resize_output(total_weight, {});
  forward(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

std::tuple<at::Tensor, at::Tensor> nll_loss2d_forward(const at::Tensor& self,
                                                      const at::Tensor& target,
                                                      const std::optional<at::Tensor>& weight,
                                                      int64_t reduction,
                                                      int64_t ignore_index) {
  at::Tensor output = at::empty({0}, self.options());
  at::Tensor total_weight = at::empty({0}, self.options());
  nll_loss2d_forward_output(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

at::Tensor& nll_loss2d_backward_grad_input(const at::Tensor& grad_output,
                                           const at::Tensor& self,
                                           const at::Tensor& target,
                                           const std::optional<at::Tensor>& weight_opt,
                                           int64_t reduction,
                                           int64_t ignore_index,
                                           const at::Tensor& total_weight,
                                           at::Tensor& grad_input) {
  const at::Tensor weight = or_undefined(weight_opt);
  check_2d(self, target, weight);
  TORCH_CHECK(total_weight.numel() == 1,
              "expected total_weight to be a single element tensor, got: ", total_weight.sizes(),
              " (", total_weight.numel(), " elements)");
  at::native::resize_output(grad_input, self.sizes());
  backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, grad_input);
  return grad_input;
}

at::Tensor nll_loss2d_backward(const at::Tensor& grad_output,
                               const at::Tensor& self,
                               const at::Tensor& target,
                               const std::optional<at::Tensor>& weight,
                               int64_t reduction,
                               int64_t ignore_index,
                               const at::Tensor& total_weight) {
  at::Tensor grad_input = at::empty({0}, self.options());
  nll_loss2d_backward_grad_input(grad_output, self, target, weight, reduction, ignore_index,
                                 total_weight, grad_input);
  return grad_input;
}

}  // namespace anvil::native
