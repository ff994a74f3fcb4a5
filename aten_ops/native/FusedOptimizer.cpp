// Optimizer steps over lists of tensors, and gradient scaling for mixed precision.
#include <ATen/native/ForeachUtils.h>
#include <ATen/ops/empty.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/foreach.h"
#include "aten_ops/native/TensorLists.h"
#include "backend/Stream.h"
#include "generated/foreach_native.h"

namespace anvil::native {
namespace {

using at::Tensor;
using at::TensorList;

kernels::ScalarType dtype_of(TensorList list) {
  return static_cast<kernels::ScalarType>(list[0].scalar_type());
}

void check_lists(const char* name, std::initializer_list<TensorList> lists) {
  TORCH_CHECK(!lists.begin()->empty(), name, ": the list of parameters is empty");
  for (const TensorList& list : lists) {
    TORCH_CHECK(list.size() == lists.begin()->size(), name, ": expected lists of ",
                lists.begin()->size(), " tensors, got one of ", list.size());
  }
  TORCH_CHECK(can_use_foreach_kernels(lists), name,
              ": parameters, gradients and states must have the same dtype (float, double, half or "
              "bfloat16), device and dense strides; use foreach=True or fused=False for others");
}

// The address of an optional tensor of one float on the parameters' device.
const float* optional_float(const char* name,
                            const char* argument,
                            const std::optional<Tensor>& tensor,
                            TensorList parameters) {
  if (!tensor.has_value() || !tensor->defined()) {
    return nullptr;
  }
  TORCH_CHECK(tensor->numel() == 1 && tensor->scalar_type() == at::kFloat &&
                  tensor->device() == parameters[0].device(),
              name, ": ", argument, " must be one float on ", parameters[0].device(), ", got ",
              tensor->numel(), " elements of ", tensor->scalar_type(), " on ", tensor->device());
  return tensor->const_data_ptr<float>();
}

struct AdamArguments {
  double lr, beta1, beta2, weight_decay, eps;
  bool amsgrad, maximize, decoupled;
  const float* device_lr;
};

void fused_adam(const char* name,
                const AdamArguments& arguments,
                TensorList self,
                TensorList grads,
                TensorList exp_avgs,
                TensorList exp_avg_sqs,
                TensorList max_exp_avg_sqs,
                TensorList state_steps,
                const std::optional<Tensor>& grad_scale,
                const std::optional<Tensor>& found_inf) {
  arguments.amsgrad ? check_lists(name, {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs})
                    : check_lists(name, {self, grads, exp_avgs, exp_avg_sqs});
  TORCH_CHECK(state_steps.size() == self.size(), name, ": expected ", self.size(),
              " state_steps, got ", state_steps.size());
  for (const Tensor& step : state_steps) {
    TORCH_CHECK(
        step.numel() == 1 && step.scalar_type() == at::kFloat && step.device() == self[0].device(),
        name, ": each of state_steps must be one float on ", self[0].device(), ", got ",
        step.scalar_type(), " on ", step.device());
  }
  const TensorListPointers pointers =
      arguments.amsgrad
          ? TensorListPointers({self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps})
          : TensorListPointers({self, grads, exp_avgs, exp_avg_sqs, state_steps});
  kernels::table().foreach.fused_adam(
      {.dtype = dtype_of(self),
       .lists = pointers.view(),
       .lr = arguments.lr,
       .beta1 = arguments.beta1,
       .beta2 = arguments.beta2,
       .weight_decay = arguments.weight_decay,
       .eps = arguments.eps,
       .amsgrad = arguments.amsgrad,
       .maximize = arguments.maximize,
       .decoupled = arguments.decoupled,
       .device_lr = arguments.device_lr,
       .grad_scale = optional_float(name, "grad_scale", grad_scale, self),
       .found_inf = optional_float(name, "found_inf", found_inf, self)},
      getCurrentStream());
}

}  // namespace

#define ANVIL_FUSED_ADAM(name, is_decoupled)                                                      \
  void name(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,       \
            TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1,          \
            double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,           \
            const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {    \
    fused_adam(                                                                                   \
        #name, {lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, is_decoupled, nullptr},   \
        self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf); \
  }                                                                                               \
  void name##_tensor_lr(                                                                          \
      TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs,             \
      TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1,         \
      double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,                 \
      const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {          \
    const bool on_host = lr.device().is_cpu();                                                    \
    fused_adam(                                                                                   \
        #name,                                                                                    \
        {on_host ? lr.item<double>() : 0.0, beta1, beta2, weight_decay, eps, amsgrad, maximize,   \
         is_decoupled, on_host ? nullptr : optional_float(#name, "lr", lr, self)},                \
        self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf); \
  }
ANVIL_FUSED_ADAM(_fused_adam_, false)
ANVIL_FUSED_ADAM(_fused_adamw_, true)
#undef ANVIL_FUSED_ADAM

namespace {

void fused_sgd(TensorList self,
               TensorList grads,
               TensorList momentum_buffer_list,
               double weight_decay,
               double momentum,
               double lr,
               const float* device_lr,
               double dampening,
               bool nesterov,
               bool maximize,
               bool is_first_step,
               const std::optional<Tensor>& grad_scale,
               const std::optional<Tensor>& found_inf) {
  const char* name = "_fused_sgd_";
  const bool has_momentum = !momentum_buffer_list.empty();
  TORCH_CHECK(has_momentum || momentum == 0.0, name, ": momentum ", momentum,
              " needs a list of momentum buffers");
  has_momentum ? check_lists(name, {self, grads, momentum_buffer_list})
               : check_lists(name, {self, grads});
  const TensorListPointers pointers = has_momentum
                                          ? TensorListPointers({self, grads, momentum_buffer_list})
                                          : TensorListPointers({self, grads});
  kernels::table().foreach.fused_sgd(
      {.dtype = dtype_of(self),
       .lists = pointers.view(),
       .lr = lr,
       .momentum = momentum,
       .dampening = dampening,
       .weight_decay = weight_decay,
       .nesterov = nesterov,
       .maximize = maximize,
       .is_first_step = is_first_step,
       .device_lr = device_lr,
       .grad_scale = optional_float(name, "grad_scale", grad_scale, self),
       .found_inf = optional_float(name, "found_inf", found_inf, self)},
      getCurrentStream());
}

}  // namespace

void _fused_sgd_(TensorList self,
                 TensorList grads,
                 TensorList momentum_buffer_list,
                 double weight_decay,
                 double momentum,
                 double lr,
                 double dampening,
                 bool nesterov,
                 bool maximize,
                 bool is_first_step,
                 const std::optional<Tensor>& grad_scale,
                 const std::optional<Tensor>& found_inf) {
  fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, lr, nullptr, dampening,
            nesterov, maximize, is_first_step, grad_scale, found_inf);
}

void _fused_sgd__tensor_lr(TensorList self,
                           TensorList grads,
                           TensorList momentum_buffer_list,
                           double weight_decay,
                           double momentum,
                           const Tensor& lr,
                           double dampening,
                           bool nesterov,
                           bool maximize,
                           bool is_first_step,
                           const std::optional<Tensor>& grad_scale,
                           const std::optional<Tensor>& found_inf) {
  const bool on_host = lr.device().is_cpu();
  fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum,
            on_host ? lr.item<double>() : 0.0,
            on_host ? nullptr : optional_float("_fused_sgd_", "lr", lr, self), dampening, nesterov,
            maximize, is_first_step, grad_scale, found_inf);
}

void _amp_foreach_non_finite_check_and_unscale_(TensorList self,
                                                Tensor& found_inf,
                                                const Tensor& inv_scale) {
  if (self.empty()) {
    return;
  }
  const auto check_float = [&](const char* argument, const Tensor& tensor) {
    TORCH_CHECK(tensor.numel() == 1, argument, " must be a 1-element tensor.");
    TORCH_CHECK(tensor.scalar_type() == at::kFloat, argument, " must be a float tensor.");
    TORCH_CHECK(tensor.device() == self[0].device(), argument, " must be on ", self[0].device(),
                ", got ", tensor.device());
  };
  check_float("inv_scale", inv_scale);
  check_float("found_inf", found_inf);

  // Dense gradients of one dtype share launches; others are scaled in a dense copy.
  std::vector<std::pair<at::ScalarType, std::vector<Tensor>>> groups;
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const Tensor& gradient : self) {
    TORCH_CHECK(
        gradient.device() == self[0].device() && gradient.layout() == at::kStrided,
        "_amp_foreach_non_finite_check_and_unscale_: every gradient must be strided and on ",
        self[0].device(), ", got ", gradient.layout(), " on ", gradient.device());
    TORCH_CHECK(
        at::isFloatingType(gradient.scalar_type()),
        "_amp_foreach_non_finite_check_and_unscale_: gradients must be floating point, got ",
        gradient.scalar_type());
    Tensor dense = gradient;
    if (!gradient.is_non_overlapping_and_dense()) {
      dense = gradient.contiguous();
      copies.emplace_back(gradient, dense);
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& candidate) {
      return candidate.first == gradient.scalar_type();
    });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {gradient.scalar_type(), {}});
    }
    group->second.push_back(std::move(dense));
  }
  for (const auto& [dtype, gradients] : groups) {
    const TensorListPointers pointers({TensorList(gradients)});
    kernels::table().foreach.amp_unscale({.dtype = static_cast<kernels::ScalarType>(dtype),
                                          .lists = pointers.view(),
                                          .inverse_scale = inv_scale.const_data_ptr<float>(),
                                          .found_inf = found_inf.mutable_data_ptr<float>()},
                                         getCurrentStream());
  }
  for (const auto& [gradient, dense] : copies) {
    gradient.copy_(dense);
  }
}

Tensor& _amp_update_scale_(Tensor& current_scale,
                           Tensor& growth_tracker,
                           const Tensor& found_inf,
                           double growth_factor,
                           double backoff_factor,
                           int64_t growth_interval) {
  TORCH_CHECK(growth_tracker.numel() == 1 && growth_tracker.scalar_type() == at::kInt,
              "growth_tracker must be a 1-element int tensor.");
  TORCH_CHECK(current_scale.numel() == 1 && current_scale.scalar_type() == at::kFloat,
              "current_scale must be a 1-element float tensor.");
  TORCH_CHECK(found_inf.numel() == 1 && found_inf.scalar_type() == at::kFloat,
              "found_inf must be a 1-element float tensor.");
  kernels::table().foreach.amp_update_scale(
      {.scale = current_scale.mutable_data_ptr<float>(),
       .growth_tracker = growth_tracker.mutable_data_ptr<int>(),
       .found_inf = found_inf.const_data_ptr<float>(),
       .growth_factor = growth_factor,
       .backoff_factor = backoff_factor,
       .growth_interval = static_cast<int>(growth_interval)},
      getCurrentStream());
  return current_scale;
}

}  // namespace anvil::native
