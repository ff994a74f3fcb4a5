// The gradient of an embedding, and the limit on the norm of its rows. Forward is index_select.
#include <ATen/TensorUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "aten_ops/native/IndexWalk.h"
#include "aten_ops/native/Loops.h"
#include "generated/indexing_native.h"

namespace anvil::native {

at::Tensor embedding_dense_backward(const at::Tensor& grad_output,
                                    const at::Tensor& indices,
                                    int64_t num_weights,
                                    int64_t padding_idx,
                                    bool scale_grad_by_freq) {
  const at::TensorArg indices_arg{indices, "indices", 2};
  at::checkScalarTypes("embedding_backward", indices_arg, {at::kLong, at::kInt});
  const int64_t columns = grad_output.size(-1);
  const at::Tensor rows = indices.reshape({-1}).to(at::kLong);
  at::Tensor grad = grad_output.reshape({rows.numel(), columns});
  // Sums of many terms: half and bfloat16 are accumulated in float.
  const at::ScalarType dtype = grad_output.scalar_type();
  const bool widens = at::isReducedFloatingType(dtype);
  at::Tensor grad_weight =
      at::zeros({num_weights, columns}, grad.options().dtype(widens ? at::kFloat : dtype));
  if (grad.numel() == 0 || grad_weight.numel() == 0) {
    return grad_weight.to(dtype);
  }
  grad = grad.to(grad_weight.scalar_type());
  if (scale_grad_by_freq) {
    at::Tensor counts = at::zeros({num_weights}, grad_weight.options());
    kernels::table().index.scatter_reduce(
        walk_vector(counts, 0, rows, at::ones({rows.numel()}, counts.options())),
        to_scalar_type(counts.scalar_type()), kernels::ScatterReduction::kAdd, getCurrentStream());
    grad = grad.div(counts.index_select(0, rows).unsqueeze(1));
  }
  scatter_in_order(walk_vector(grad_weight, 0, rows, grad), grad_weight.scalar_type(), true,
                   padding_idx < 0 ? -1 : padding_idx, grad_weight.options());
  return grad_weight.to(dtype);
}

// Rows whose norm is above max_norm are scaled to it. All rows are read: which
// ones `indices` names would take a sort to know once each.
at::Tensor& embedding_renorm_(at::Tensor& self,
                              const at::Tensor& indices,
                              double max_norm,
                              double norm_type) {
  const at::TensorArg self_arg{self, "self", 1};
  const at::TensorArg indices_arg{indices, "indices", 2};
  at::checkDim("embedding_renorm_", self_arg, 2);
  at::checkScalarTypes("embedding_renorm_", indices_arg, {at::kLong, at::kInt});
  if (indices.numel() == 0) {
    return self;
  }
  const at::Tensor named = at::zeros({self.size(0)}, self.options().dtype(at::kBool));
  named.index_fill_(0, indices.reshape({-1}).to(at::kLong), true);
  const bool widens = at::isReducedFloatingType(self.scalar_type());
  const at::ScalarType dtype = widens ? at::kFloat : self.scalar_type();
  const at::Tensor norm = at::linalg_vector_norm(self, norm_type, 1, /*keepdim=*/false, dtype);
  // The small number is upstream's: no division by zero.
  const at::Tensor scale = norm.add(1e-7).reciprocal_().mul_(max_norm);
  scale.masked_fill_(named.logical_and_(norm.gt(max_norm)).logical_not_(), 1);
  return self.mul_(scale.unsqueeze(1));
}

}  // namespace anvil::native
