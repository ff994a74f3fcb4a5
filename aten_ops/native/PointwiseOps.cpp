// Elementwise operators of several inputs: ATen's stubs to the kernel table.
#include <ATen/native/PointwiseOps.h>

#include <ATen/native/BinaryOps.h>
#include <ATen/native/Lerp.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/UnaryOps.h>

#include <limits>

#include "aten_ops/kernels/pointwise.h"
#include "aten_ops/native/CheckedScalar.h"
#include "aten_ops/native/Loops.h"

namespace at::native {
namespace {

using anvil::native::launch;
using anvil::native::launch_as;
using anvil::native::to_compute_scalar;
using anvil::native::to_scalar;

const anvil::kernels::PointwiseKernels& kernels() { return anvil::kernels::table().pointwise; }

void addcmul_kernel(TensorIteratorBase& iter, const Scalar& value) {
  launch(iter, kernels().addcmul, to_compute_scalar(iter.common_dtype(), value));
}
void addcdiv_kernel(TensorIteratorBase& iter, const Scalar& value) {
  launch(iter, kernels().addcdiv, to_compute_scalar(iter.common_dtype(), value));
}
void clamp_kernel(TensorIteratorBase& iter) { launch(iter, kernels().clamp_tensor); }
void clamp_scalar_kernel(TensorIteratorBase& iter, const Scalar& min, const Scalar& max) {
  launch(iter, kernels().clamp, to_scalar(min), to_scalar(max));
}
void clamp_min_scalar_kernel(TensorIteratorBase& iter, Scalar min) {
  launch(iter, kernels().clamp_min, to_scalar(min));
}
void clamp_max_scalar_kernel(TensorIteratorBase& iter, Scalar max) {
  launch(iter, kernels().clamp_max, to_scalar(max));
}
void lerp_scalar_kernel(TensorIteratorBase& iter, const Scalar& weight) {
  launch(iter, kernels().lerp, to_scalar(weight));
}
void lerp_tensor_kernel(TensorIteratorBase& iter) { launch(iter, kernels().lerp_tensor); }
void logit_kernel(TensorIteratorBase& iter, const Scalar& eps) {
  launch(iter, kernels().logit, to_scalar(eps));
}
void logit_backward_kernel(TensorIteratorBase& iter, const Scalar& eps) {
  launch(iter, kernels().logit_backward, to_scalar(eps));
}
void round_decimals_kernel(TensorIteratorBase& iter, int64_t decimals) {
  launch(iter, kernels().round_decimals, decimals);
}
// The condition is bool, so the iterator has no common dtype.
void where_kernel_anvil(TensorIterator& iter) { launch_as(iter, iter.dtype(0), kernels().where); }

double largest(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 65504.0;
    case kBFloat16:
      return static_cast<double>(std::numeric_limits<c10::BFloat16>::max());
    case kFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}
void nan_to_num_kernel(TensorIteratorBase& iter,
                       std::optional<double> nan,
                       std::optional<double> posinf,
                       std::optional<double> neginf) {
  const double limit = largest(iter.common_dtype());
  launch(iter, kernels().nan_to_num, nan.value_or(0.0), posinf.value_or(limit),
         neginf.value_or(-limit));
}

void mse_kernel(TensorIteratorBase& iter) { launch(iter, kernels().mse); }
void mse_backward_kernel(TensorIterator& iter, const Scalar& norm) {
  launch(iter, kernels().mse_backward, to_scalar(norm));
}
void smooth_l1_kernel(TensorIteratorBase& iter, double beta) {
  launch(iter, kernels().smooth_l1, beta);
}
void smooth_l1_backward_kernel(TensorIterator& iter, const Scalar& norm, double beta) {
  launch(iter, kernels().smooth_l1_backward, to_scalar(norm), beta);
}
void huber_kernel(TensorIterator& iter, double delta) { launch(iter, kernels().huber, delta); }
void huber_backward_kernel(TensorIterator& iter, const Scalar& norm, double delta) {
  launch(iter, kernels().huber_backward, to_scalar(norm), delta);
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(addcmul_stub, &addcmul_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(addcdiv_stub, &addcdiv_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(clamp_stub, &clamp_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(clamp_scalar_stub, &clamp_scalar_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(clamp_min_scalar_stub, &clamp_min_scalar_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(clamp_max_scalar_stub, &clamp_max_scalar_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(lerp_kernel_scalar_weight, &lerp_scalar_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(lerp_kernel_tensor_weight, &lerp_tensor_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logit_stub, &logit_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(logit_backward_stub, &logit_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(round_decimals_stub, &round_decimals_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(where_kernel, &where_kernel_anvil)
REGISTER_PRIVATEUSE1_DISPATCH(nan_to_num_stub, &nan_to_num_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(mse_stub, &mse_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(mse_backward_stub, &mse_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(smooth_l1_stub, &smooth_l1_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(smooth_l1_backward_stub, &smooth_l1_backward_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(huber_stub, &huber_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(huber_backward_stub, &huber_backward_kernel)

}  // namespace at::native
