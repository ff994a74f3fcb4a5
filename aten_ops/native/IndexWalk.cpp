#include "aten_ops/native/IndexWalk.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/ops/empty.h>

#include <cstring>

#include "aten_ops/native/Loops.h"

namespace anvil::native {

kernels::IndexWalk make_walk(const at::TensorIteratorBase& iter,
                             int direct,
                             int indexed,
                             int first_index,
                             at::IntArrayRef sizes,
                             at::IntArrayRef strides) {
  kernels::IndexWalk walk;
  TORCH_CHECK(iter.ndim() <= kernels::IndexWalk::kMaxDims, "tensors with more than ",
              kernels::IndexWalk::kMaxDims, " dimensions cannot be indexed, got ", iter.ndim());
  TORCH_CHECK(sizes.size() <= kernels::IndexWalk::kMaxIndices, "at most ",
              kernels::IndexWalk::kMaxIndices, " index tensors are supported, got ", sizes.size());
  const auto copy = [&](int operand, int64_t* target) {
    const at::IntArrayRef source = iter.strides(operand);
    std::copy(source.begin(), source.end(), target);
  };
  walk.ndim = iter.ndim();
  std::copy(iter.shape().begin(), iter.shape().end(), walk.size);
  if (direct >= 0) {
    walk.direct = iter.data_ptr(direct);
    copy(direct, walk.direct_stride);
  }
  walk.indexed = iter.data_ptr(indexed);
  copy(indexed, walk.indexed_stride);
  walk.nindices = static_cast<int>(sizes.size());
  for (int k = 0; k < walk.nindices; ++k) {
    TORCH_INTERNAL_ASSERT(iter.dtype(first_index + k) == at::kLong, "kernels read int64 indices");
    walk.index[k] = iter.data_ptr(first_index + k);
    copy(first_index + k, walk.index_stride[k]);
    walk.bound[k] = sizes[k];
    walk.step[k] = strides[k];
  }
  return walk;
}

namespace {

// A view of `tensor` with other sizes, and stride 0 in `dim`.
at::Tensor restride(const at::Tensor& tensor, at::IntArrayRef sizes, int64_t dim) {
  at::DimVector strides(tensor.strides());
  if (dim >= 0) {
    strides[dim] = 0;
  }
  return tensor.as_strided(sizes, strides);
}

kernels::IndexWalk build(const at::Tensor& indexed,
                         int64_t dim,
                         const at::Tensor& index,
                         const at::Tensor& direct,
                         at::IntArrayRef shape) {
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).check_all_same_dtype(false).resize_outputs(false);
  config.add_owned_output(restride(indexed, shape, dim)).add_owned_const_input(index);
  if (direct.defined()) {
    config.add_owned_const_input(restride(direct, shape, -1));
  }
  const auto iter = config.build();
  const int64_t bound = indexed.size(dim);
  const int64_t step = indexed.stride(dim) * static_cast<int64_t>(indexed.element_size());
  return make_walk(iter, direct.defined() ? 2 : -1, 0, 1, bound, step);
}

at::Tensor at_least_1d(const at::Tensor& tensor) {
  return tensor.defined() && tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor;
}

}  // namespace

kernels::IndexWalk walk_along(const at::Tensor& indexed,
                              int64_t dim,
                              const at::Tensor& index,
                              const at::Tensor& direct) {
  const at::Tensor index_1d = at_least_1d(index);
  return build(at_least_1d(indexed), dim, index_1d, at_least_1d(direct), index_1d.sizes());
}

kernels::IndexWalk walk_vector(const at::Tensor& indexed,
                               int64_t dim,
                               const at::Tensor& index,
                               const at::Tensor& direct) {
  at::DimVector shape(indexed.sizes());
  shape[dim] = index.numel();
  at::DimVector strides(shape.size(), 0);
  strides[dim] = index.dim() == 0 ? 1 : index.stride(0);
  return build(indexed, dim, index.as_strided(shape, strides), direct, shape);
}

void set_immediate(kernels::IndexWalk& walk, const at::Scalar& value, at::ScalarType dtype) {
  walk.direct_is_immediate = true;
  AT_DISPATCH_V2(dtype, "scatter_value", AT_WRAP([&] {
                   const scalar_t typed = value.to<scalar_t>();
                   std::memcpy(walk.immediate, &typed, sizeof(typed));
                 }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 AT_EXPAND(AT_FLOAT8_TYPES), at::kHalf, at::kBFloat16, at::kBool);
}

void scatter_in_order(kernels::IndexWalk walk,
                      at::ScalarType dtype,
                      bool add,
                      int64_t skip,
                      const at::TensorOptions& options) {
  bool has_rows = walk.ndim > 0;
  for (int k = 0; k < walk.nindices; ++k) {
    has_rows = has_rows && walk.index_stride[k][0] == 0;
  }
  if (!has_rows) {
    // Rows of one element: a dimension of size 1 before the others.
    TORCH_CHECK(walk.ndim < kernels::IndexWalk::kMaxDims, "too many dimensions");
    const auto shift = [&](int64_t* values, int64_t first) {
      std::copy_backward(values, values + walk.ndim, values + walk.ndim + 1);
      values[0] = first;
    };
    shift(walk.size, 1);
    shift(walk.direct_stride, 0);
    shift(walk.indexed_stride, 0);
    for (int k = 0; k < walk.nindices; ++k) {
      shift(walk.index_stride[k], 0);
    }
    ++walk.ndim;
  }
  const int64_t rows = walk.numel() / walk.size[0];
  const at::Tensor offsets = at::empty({rows}, options.dtype(at::kLong));
  const auto& index = kernels::table().index;
  index.row_offsets(walk, skip, offsets.data_ptr<int64_t>(), getCurrentStream());
  index.scatter_in_order(walk, to_scalar_type(dtype), add, offsets.const_data_ptr<int64_t>(),
                         getCurrentStream());
}

}  // namespace anvil::native
