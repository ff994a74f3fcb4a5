// Softmax, log-softmax and their gradients.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/softmax.h"
#include "aten_ops/native/ContiguousOutput.h"
#include "aten_ops/native/Loops.h"
#include "backend/Stream.h"
#include "generated/normalization_native.h"

namespace anvil::native {
namespace {

kernels::SoftmaxShape softmax_shape(const at::Tensor& self, int64_t dim) {
  kernels::SoftmaxShape shape{1, 1, 1};
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    (d < wrapped ? shape.outer : d == wrapped ? shape.dim : shape.inner) *= self.size(d);
  }
  return shape;
}

using Forward = decltype(kernels::SoftmaxKernels::softmax);
using Backward = decltype(kernels::SoftmaxKernels::softmax_backward);

void forward(Forward kernel,
             const at::Tensor& self,
             int64_t dim,
             bool half_to_float,
             const at::Tensor& out) {
  if (half_to_float) {
    TORCH_CHECK(self.scalar_type() == at::kHalf || self.scalar_type() == at::kBFloat16,
                "conversion is supported for Half and BFloat16 type only, got ",
                self.scalar_type());
  }
  if (self.numel() == 0) {
    return;
  }
  const at::Tensor input = self.contiguous();
  with_contiguous_output(out, [&](const at::Tensor& result) {
    kernel(input.const_data_ptr(), to_scalar_type(input.scalar_type()), result.mutable_data_ptr(),
           to_scalar_type(result.scalar_type()), softmax_shape(self, dim), getCurrentStream());
  });
}

void backward(Backward kernel,
              const at::Tensor& grad_output,
              const at::Tensor& output,
              int64_t dim,
              const at::Tensor& grad_input) {
  if (grad_output.numel() == 0) {
    return;
  }
  const at::Tensor grad = grad_output.contiguous();
  const at::Tensor result = output.contiguous();
  TORCH_CHECK(grad.scalar_type() == result.scalar_type(), "expected grad_output and output to ",
              "have one dtype, got ", grad.scalar_type(), " and ", result.scalar_type());
  with_contiguous_output(grad_input, [&](const at::Tensor& to) {
    kernel(grad.const_data_ptr(), result.const_data_ptr(), to_scalar_type(grad.scalar_type()),
           to.mutable_data_ptr(), to_scalar_type(to.scalar_type()), softmax_shape(grad, dim),
           getCurrentStream());
  });
}

}  // namespace

TORCH_IMPL_FUNC(_softmax_out)
(const at::Tensor& self, int64_t dim, bool half_to_float, const at::Tensor& out) {
  forward(kernels::table().softmax.softmax, self, dim, half_to_float, out);
}
TORCH_IMPL_FUNC(_log_softmax_out)
(const at::Tensor& self, int64_t dim, bool half_to_float, const at::Tensor& out) {
  forward(kernels::table().softmax.log_softmax, self, dim, half_to_float, out);
}
TORCH_IMPL_FUNC(_softmax_backward_data_out)
(const at::Tensor& grad_output,
 const at::Tensor& output,
 int64_t dim,
 at::ScalarType,
 const at::Tensor& grad_input) {
  backward(kernels::table().softmax.softmax_backward, grad_output, output, dim, grad_input);
}
TORCH_IMPL_FUNC(_log_softmax_backward_data_out)
(const at::Tensor& grad_output,
 const at::Tensor& output,
 int64_t dim,
 at::ScalarType,
 const at::Tensor& grad_input) {
  backward(kernels::table().softmax.log_softmax_backward, grad_output, output, dim, grad_input);
}

}  // namespace anvil::native
