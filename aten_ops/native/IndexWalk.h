// From tensors and TensorIterators to the walks of gather and scatter.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>

#include "aten_ops/kernels/index.h"

namespace anvil::native {

// The walk over `iter`, whose operand `direct` is addressed by position,
// operand `indexed` is addressed through the index tensors (all other operands,
// from `first_index` on), and has stride 0 where it is indexed. `sizes` and
// `strides` (bytes) are those of the indexed dimensions, one for each index
// tensor.
kernels::IndexWalk make_walk(const at::TensorIteratorBase& iter,
                             int direct,
                             int indexed,
                             int first_index,
                             at::IntArrayRef sizes,
                             at::IntArrayRef strides);

// The walk of gather and scatter along `dim` of `indexed`, with an index of
// any shape that fits: direct[i, j, ...] and indexed[i, index[i, j, ...], ...]
// for dim 1; index int64. `direct` undefined: an immediate, to be filled in.
kernels::IndexWalk walk_along(const at::Tensor& indexed,
                              int64_t dim,
                              const at::Tensor& index,
                              const at::Tensor& direct);

// The walk of index_select and its like: the vector `index` along `dim`,
// direct[:, i, :] and indexed[:, index[i], :]. Tensors of one dimension at
// least; index int64 on the device.
kernels::IndexWalk walk_vector(const at::Tensor& indexed,
                               int64_t dim,
                               const at::Tensor& index,
                               const at::Tensor& direct);

// Stores `value` as `dtype` in place of the direct operand.
void set_immediate(kernels::IndexWalk& walk, const at::Scalar& value, at::ScalarType dtype);

// indexed += direct (or = direct) on the current stream, in order and so to the
// same bits every time; with `skip`, without the positions of that index.
void scatter_in_order(kernels::IndexWalk walk,
                      at::ScalarType dtype,
                      bool add,
                      int64_t skip,
                      const at::TensorOptions& options);

// index_put as upstream's stub has it: self (operand 0, stride 0 where it is
// indexed), values (1), index tensors. Accumulates in order under deterministic
// algorithms, and where that costs little.
void index_put(at::TensorIterator& iter,
               at::IntArrayRef sizes,
               at::IntArrayRef strides,
               bool accumulate);

}  // namespace anvil::native
