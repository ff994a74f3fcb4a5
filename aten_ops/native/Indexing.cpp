// Indexing by tensors, and along one dimension by a vector.
#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include "aten_ops/native/CheckedScalar.h"
#include "aten_ops/native/IndexWalk.h"
#include "aten_ops/native/Loops.h"
#include "generated/indexing_native.h"

namespace anvil::native {
namespace {

bool deterministic() { return at::globalContext().deterministicAlgorithms(); }

at::TensorOptions device_options(const at::TensorIteratorBase& iter) {
  return at::TensorOptions(iter.device(0));
}

// index: out (0), self (1), index tensors.
void index(at::TensorIteratorBase& iter, at::IntArrayRef sizes, at::IntArrayRef strides) {
  if (iter.numel() == 0) {
    return;
  }
  kernels::IndexWalk walk = make_walk(iter, 0, 1, 2, sizes, strides);
  walk.wraps = true;
  kernels::table().index.gather(walk, static_cast<int>(iter.element_size(0)), getCurrentStream());
}

// Rows of an accumulation that are worth the deterministic path by themselves:
// long ones, for whose elements every owner has a thread, or few.
bool prefers_order(const kernels::IndexWalk& walk) {
  bool has_rows = walk.ndim > 0;
  for (int k = 0; k < walk.nindices; ++k) {
    has_rows = has_rows && walk.index_stride[k][0] == 0;
  }
  const int64_t row = has_rows ? walk.size[0] : 1;
  return row >= 32 || walk.numel() / row <= 4096;
}

}  // namespace

void index_put(at::TensorIterator& iter,
               at::IntArrayRef sizes,
               at::IntArrayRef strides,
               bool accumulate) {
  if (iter.numel() == 0) {
    return;
  }
  kernels::IndexWalk walk = make_walk(iter, 1, 0, 2, sizes, strides);
  walk.wraps = true;
  const auto& table = kernels::table().index;
  if (deterministic() || (accumulate && prefers_order(walk))) {
    scatter_in_order(walk, iter.dtype(0), accumulate, -1, device_options(iter));
  } else if (accumulate) {
    table.scatter_reduce(walk, to_scalar_type(iter.dtype(0)), kernels::ScatterReduction::kAdd,
                         getCurrentStream());
  } else {
    table.scatter(walk, static_cast<int>(iter.element_size(0)), getCurrentStream());
  }
}

namespace {

// index_fill_: self (0, stride 0 along the dimension), index (1).
void index_fill(at::TensorIterator& iter,
                int64_t dim,
                int64_t self_dim_size,
                int64_t self_dim_stride,
                const at::Scalar& value) {
  if (iter.numel() == 0) {
    return;
  }
  const auto bytes = static_cast<int64_t>(iter.element_size(0));
  kernels::IndexWalk walk = make_walk(iter, -1, 0, 1, self_dim_size, self_dim_stride * bytes);
  walk.wraps = true;
  set_immediate(walk, value, iter.dtype(0));
  kernels::table().index.scatter(walk, static_cast<int>(bytes), getCurrentStream());
}

// index_copy: self (0, stride 0 along the dimension), index (1), source (2).
void index_copy(at::TensorIterator& iter,
                int64_t dim,
                int64_t self_dim_size,
                int64_t self_dim_stride) {
  if (iter.numel() == 0) {
    return;
  }
  const auto bytes = static_cast<int64_t>(iter.element_size(0));
  const kernels::IndexWalk walk = make_walk(iter, 2, 0, 1, self_dim_size, self_dim_stride * bytes);
  if (deterministic()) {
    scatter_in_order(walk, iter.dtype(0), false, -1, device_options(iter));
  } else {
    kernels::table().index.scatter(walk, static_cast<int>(bytes), getCurrentStream());
  }
}

// A walk that addresses all of `flat` (contiguous) by one index tensor.
kernels::IndexWalk flat_walk(const at::TensorIterator& iter,
                             int direct,
                             int index_operand,
                             const at::TensorBase& flat) {
  kernels::IndexWalk walk;
  const auto copy = [&](int operand, int64_t* target) {
    const at::IntArrayRef source = iter.strides(operand);
    std::copy(source.begin(), source.end(), target);
  };
  walk.ndim = iter.ndim();
  std::copy(iter.shape().begin(), iter.shape().end(), walk.size);
  walk.direct = iter.data_ptr(direct);
  copy(direct, walk.direct_stride);
  walk.indexed = const_cast<void*>(flat.const_data_ptr());
  walk.nindices = 1;
  walk.wraps = true;
  walk.index[0] = iter.data_ptr(index_operand);
  copy(index_operand, walk.index_stride[0]);
  walk.bound[0] = flat.numel();
  walk.step[0] = static_cast<int64_t>(flat.element_size());
  return walk;
}

// take: out (0), index (1).
void take(at::TensorIterator& iter, const at::TensorBase& input) {
  if (iter.numel() == 0) {
    return;
  }
  const at::Tensor flat = at::Tensor(input).contiguous();
  kernels::table().index.gather(flat_walk(iter, 0, 1, flat), static_cast<int>(flat.element_size()),
                                getCurrentStream());
}

// put_: source (0), index (1).
void put(at::TensorIterator& iter, const at::TensorBase& self, const bool accumulate) {
  if (iter.numel() == 0) {
    return;
  }
  const at::Tensor target(self);
  const at::Tensor flat = target.contiguous();
  const kernels::IndexWalk walk = flat_walk(iter, 0, 1, flat);
  if (accumulate && deterministic()) {
    scatter_in_order(walk, flat.scalar_type(), true, -1, flat.options());
  } else if (accumulate) {
    kernels::table().index.scatter_reduce(walk, to_scalar_type(flat.scalar_type()),
                                          kernels::ScatterReduction::kAdd, getCurrentStream());
  } else {
    kernels::table().index.scatter(walk, static_cast<int>(flat.element_size()), getCurrentStream());
  }
  if (!flat.is_same(target)) {
    target.copy_(flat);
  }
}

// flip: out (0), input (1) with negative strides.
void flip(at::TensorIterator& iter, const bool quantized) {
  if (iter.numel() == 0) {
    return;
  }
  kernels::table().index.gather(make_walk(iter, 0, 1, 2, {}, {}),
                                static_cast<int>(iter.element_size(0)), getCurrentStream());
}

void check_index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  TORCH_CHECK(index.dim() <= 1, "Index is supposed to be an empty tensor or a vector");
  TORCH_CHECK(!(self.dim() == 0 && index.numel() != 1),
              "index_select(): Index to scalar can have only 1 value, got ", index.numel(),
              " value(s)");
  TORCH_CHECK(
      index.scalar_type() == at::kLong || index.scalar_type() == at::kInt,
      "index_select(): Expected dtype int32 or int64 for index but got: ", index.scalar_type());
  TORCH_CHECK(
      index.numel() == 0 || self.dim() == 0 || self.size(at::maybe_wrap_dim(dim, self.dim())) > 0,
      "index_select(): self indexing axis dim should be positive");
}

}  // namespace

at::Tensor& index_select_out(const at::Tensor& self,
                             int64_t dim,
                             const at::Tensor& index,
                             at::Tensor& out) {
  check_index_select(self, dim, index);
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "index_select(): self and result must have the same scalar type");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  dim = at::maybe_wrap_dim(dim, self.dim());
  at::DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    sizes[dim] = index.numel();
  }
  at::native::resize_output(out, sizes);
  if (out.numel() == 0) {
    return out;
  }
  const at::Tensor source = self.dim() == 0 ? self.unsqueeze(0) : self;
  const at::Tensor result = out.dim() == 0 ? out.unsqueeze(0) : out;
  kernels::table().index.gather(walk_vector(source, dim, index.to(at::kLong), result),
                                static_cast<int>(out.element_size()), getCurrentStream());
  return out;
}

at::Tensor index_select(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  at::Tensor out = at::empty({0}, self.options());
  return native::index_select_out(self, dim, index, out);
}

TORCH_IMPL_FUNC(index_add_out)
(const at::Tensor& self,
 int64_t dim,
 const at::Tensor& index,
 const at::Tensor& source,
 const at::Scalar& alpha,
 const at::Tensor& out) {
  check_fits(alpha, out.scalar_type());
  if (!out.is_same(self)) {
    out.copy_(self);
  }
  if (source.numel() == 0 || out.numel() == 0) {
    return;
  }
  const at::Tensor target = out.dim() == 0 ? out.unsqueeze(0) : out;
  const at::Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
  const at::Tensor along = index.to(at::kLong);
  const kernels::IndexWalk walk =
      walk_vector(target, dim, along, scaled.dim() == 0 ? scaled.unsqueeze(0) : scaled);
  if (deterministic()) {
    scatter_in_order(walk, out.scalar_type(), true, -1, out.options());
  } else {
    kernels::table().index.scatter_reduce(walk, to_scalar_type(out.scalar_type()),
                                          kernels::ScatterReduction::kAdd, getCurrentStream());
  }
}

}  // namespace anvil::native

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(index_stub, &::anvil::native::index)
REGISTER_PRIVATEUSE1_DISPATCH(index_put_stub, &::anvil::native::index_put)
REGISTER_PRIVATEUSE1_DISPATCH(index_fill_stub, &::anvil::native::index_fill)
REGISTER_PRIVATEUSE1_DISPATCH(index_copy_stub, &::anvil::native::index_copy)
REGISTER_PRIVATEUSE1_DISPATCH(take_stub, &::anvil::native::take)
REGISTER_PRIVATEUSE1_DISPATCH(put_stub, &::anvil::native::put)
REGISTER_PRIVATEUSE1_DISPATCH(flip_stub, &::anvil::native::flip)

}  // namespace at::native
