// Activation functions: ATen's stubs to the kernel table, and the operators for
// which CUDA has functions of its own.
#include <ATen/native/Activation.h>
#include <ATen/native/Gelu.h>

#include <ATen/TensorMeta.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "aten_ops/kernels/activation.h"
#include "aten_ops/native/CheckedScalar.h"
#include "aten_ops/native/Loops.h"
#include "generated/activation_native.h"

namespace anvil::native {

namespace {
// "none" or "tanh"; throws upstream's error for anything else.
bool is_tanh(std::string_view approximate) {
  return at::native::get_gelutype_enum(approximate) == at::native::GeluType::Tanh;
}
}  // namespace

TORCH_IMPL_FUNC(gelu_out)
(const at::Tensor& self, std::string_view approximate, const at::Tensor& result) {
  launch(*this, kernels::table().activation.gelu, is_tanh(approximate));
}

TORCH_IMPL_FUNC(gelu_backward_grad_input)
(const at::Tensor& grad,
 const at::Tensor& self,
 std::string_view approximate,
 const at::Tensor& grad_input) {
  launch(*this, kernels::table().activation.gelu_backward, is_tanh(approximate));
}

// CUDA keeps nothing in the buffer.
std::tuple<at::Tensor&, at::Tensor&> log_sigmoid_forward_output(const at::Tensor& self,
                                                                at::Tensor& output,
                                                                at::Tensor& buffer) {
  auto iter = at::TensorIteratorConfig().add_output(output).add_const_input(self).build();
  launch(iter, kernels::table().activation.log_sigmoid);
  return {output, buffer};
}

std::tuple<at::Tensor, at::Tensor> log_sigmoid_forward(const at::Tensor& self) {
  at::Tensor output = at::empty_like(self);
  at::Tensor buffer = at::empty({0}, self.options());
  log_sigmoid_forward_output(self, output, buffer);
  return {output, buffer};
}

at::Tensor& log_sigmoid_backward_grad_input(const at::Tensor& grad_output,
                                            const at::Tensor& self,
                                            const at::Tensor& buffer,
                                            at::Tensor& grad_input) {
  auto iter = at::TensorIteratorConfig()
                  .add_output(grad_input)
                  .add_const_input(grad_output)
                  .add_const_input(self)
                  .build();
  launch(iter, kernels::table().activation.log_sigmoid_backward);
  return grad_input;
}

at::Tensor log_sigmoid_backward(const at::Tensor& grad_output,
                                const at::Tensor& self,
                                const at::Tensor& buffer) {
  at::Tensor grad_input = at::empty_like(grad_output);
  return log_sigmoid_backward_grad_input(grad_output, self, buffer, grad_input);
}

}  // namespace anvil::native

namespace at::native {
namespace {

using anvil::native::launch;
using anvil::native::to_scalar;
using anvil::native::to_scalar_in;

const anvil::kernels::ActivationKernels& kernels() { return anvil::kernels::table().activation; }

void elu_kernel(TensorIteratorBase& iter,
                const Scalar& alpha,
                const Scalar& scale,
                const Scalar& input_scale) {
  launch(iter, kernels().elu, to_scalar(alpha), to_scalar(scale), to_scalar(input_scale));
}
void elu_backward_kernel(TensorIteratorBase& iter,
                         const Scalar& alpha,
                         const Scalar& scale,
                         const Scalar& input_scale,
                         bool is_result) {
  launch(iter, kernels().elu_backward, to_scalar(alpha), to_scalar(scale), to_scalar(input_scale),
         is_result);
}
void threshold_kernel(TensorIteratorBase& iter, const Scalar& threshold, const Scalar& value) {
  const ScalarType dtype = iter.common_dtype();
  launch(iter, kernels().threshold, to_scalar_in(dtype, threshold), to_scalar_in(dtype, value));
}
void softplus_kernel(TensorIteratorBase& iter, const Scalar& beta, const Scalar& threshold) {
  launch(iter, kernels().softplus, to_scalar(beta), to_scalar(threshold));
}
void softplus_backward_kernel(TensorIteratorBase& iter,
                              const Scalar& beta,
                              const Scalar& threshold) {
  launch(iter, kernels().softplus_backward, to_scalar(beta), to_scalar(threshold));
}
void hardtanh_backward_kernel(TensorIterator& iter, const Scalar& min, const Scalar& max) {
  launch(iter, kernels().hardtanh_backward, to_scalar(min), to_scalar(max));
}
void hardsigmoid_kernel(TensorIteratorBase& iter) { launch(iter, kernels().hardsigmoid); }
void hardsigmoid_backward_kernel(TensorIteratorBase& iter) {
  launch(iter, kernels().hardsigmoid_backward);
}
void hardswish_kernel(TensorIterator& iter) { launch(iter, kernels().hardswish); }
void hardswish_backward_kernel(TensorIterator& iter) { launch(iter, kernels().hardswish_backward); }
void hardshrink_kernel(TensorIteratorBase& iter, const Scalar& lambd) {
  launch(iter, kernels().hardshrink, to_scalar_in(iter.common_dtype(), lambd));
}
void softshrink_kernel(TensorIteratorBase& iter, const Scalar& lambd) {
  launch(iter, kernels().softshrink, to_scalar(lambd));
}
void shrink_backward_kernel(TensorIteratorBase& iter, const Scalar& lambd) {
  launch(iter, kernels().shrink_backward, to_scalar(lambd));
}
void leaky_relu_kernel(TensorIteratorBase& iter, const Scalar& slope) {
  launch(iter, kernels().leaky_relu, to_scalar(slope));
}
void leaky_relu_backward_kernel(TensorIteratorBase& iter, const Scalar& slope) {
  launch(iter, kernels().leaky_relu_backward, to_scalar(slope));
}
void glu_kernel(TensorIteratorBase& iter) { launch(iter, kernels().glu); }
void silu_kernel(TensorIteratorBase& iter) { launch(iter, kernels().silu); }
void silu_backward_kernel(TensorIteratorBase& iter) { launch(iter, kernels().silu_backward); }
void mish_kernel(TensorIteratorBase& iter) { launch(iter, kernels().mish); }
void mish_backward_kernel(TensorIterator& iter) { launch(iter, kernels().mish_backward); }
void prelu_kernel(TensorIterator& iter) { launch(iter, kernels().prelu); }
void sigmoid_backward_kernel(TensorIteratorBase& iter) { launch(iter, kernels().sigmoid_backward); }
void tanh_backward_kernel(TensorIteratorBase& iter) { launch(iter, kernels().tanh_backward); }

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(elu_stub, &elu_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(elu_backward_stub, &elu_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(threshold_stub, &threshold_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(softplus_stub, &softplus_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(softplus_backward_stub, &softplus_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardtanh_backward_stub, &hardtanh_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardsigmoid_stub, &hardsigmoid_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardsigmoid_backward_stub, &hardsigmoid_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_stub, &hardswish_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardswish_backward_stub, &hardswish_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(hardshrink_stub, &hardshrink_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(softshrink_stub, &softshrink_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(shrink_backward_stub, &shrink_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(leaky_relu_stub, &leaky_relu_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(leaky_relu_backward_stub, &leaky_relu_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(glu_stub, &glu_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(silu_stub, &silu_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(silu_backward_stub, &silu_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(mish_stub, &mish_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(mish_backward_stub, &mish_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(prelu_stub, &prelu_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(sigmoid_backward_stub, &sigmoid_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(tanh_backward_stub, &tanh_backward_kernel)

}  // namespace at::native
