// Group norm: upstream's native_group_norm checks the dtypes and makes the
// outputs; this is its stub.
#include <ATen/core/Tensor.h>
#include <ATen/native/group_norm.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>

namespace at::native {
namespace {

// A group of a sample is a channel of one batch. The affine part is one more
// kernel: weights differ within a group. `mean` and `rstd` are [N, groups] in
// any floating dtype; `Y` has the dtype of `X`, the weights may be float beside it.
void group_norm(const Tensor& X,
                const Tensor& gamma,
                const Tensor& beta,
                int64_t N,
                int64_t C,
                int64_t HxW,
                int64_t group,
                double eps,
                Tensor& Y,
                Tensor& mean,
                Tensor& rstd) {
  if (X.numel() == 0) {
    return;
  }
  auto [normalized, batch_mean, batch_rstd] =
      at::native_batch_norm(X.reshape({1, N * group, C / group * HxW}), {}, {}, {}, {},
                            /*training=*/true, /*momentum=*/0, eps);
  mean.copy_(batch_mean.view_as(mean));
  rstd.copy_(batch_rstd.view_as(rstd));
  normalized = normalized.view(X.sizes());
  DimVector shape(X.dim(), 1);
  shape[1] = C;
  const auto along_channels = [&](const Tensor& parameter) { return parameter.reshape(shape); };
  if (gamma.defined() && beta.defined()) {
    at::addcmul_out(Y, along_channels(beta), normalized, along_channels(gamma));
  } else if (gamma.defined()) {
    at::mul_out(Y, normalized, along_channels(gamma));
  } else if (beta.defined()) {
    at::add_out(Y, normalized, along_channels(beta));
  } else {
    Y.copy_(normalized);
  }
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(GroupNormKernel, &group_norm)

}  // namespace at::native
