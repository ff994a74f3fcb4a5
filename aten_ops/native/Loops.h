// From ATen's TensorIterator to the kernel table.
#pragma once

#include <ATen/TensorIterator.h>
#include <c10/core/Scalar.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/iterator.h"
#include "aten_ops/kernels/scalar.h"
#include "backend/Stream.h"

namespace anvil::native {

// The description that kernels get. `iter` fits 32-bit indexing. CPU scalars
// become immediates. `common` is the type to compute in; Undefined for none.
// Throws NotImplementedError for dtypes that no kernel has.
kernels::Iterator to_iterator(const at::TensorIteratorBase& iter, at::ScalarType common);

kernels::Scalar to_scalar(const c10::Scalar& scalar);

// The dtype as kernels name it; throws NotImplementedError if they have none.
kernels::ScalarType to_scalar_type(at::ScalarType dtype);

// Calls f(kernels::Iterator) for parts of `iter` that fit 32-bit indexing; not
// at all if it is empty.
template <class F>
void for_each_iterator(at::TensorIteratorBase& iter, at::ScalarType common, F f) {
  if (iter.numel() == 0) {
    return;
  }
  if (C10_LIKELY(iter.can_use_32bit_indexing())) {
    f(to_iterator(iter, common));
    return;
  }
  for (auto& part : iter.with_32bit_indexing()) {
    f(to_iterator(part, common));
  }
}

// Enqueues an elementwise kernel on the current stream, computing in `common`.
// `arguments` are what the kernel takes beside the operands.
//   launch_as(iter, iter.dtype(1), kernels::table().pointwise.where);
template <class... Parameters, class... Arguments>
void launch_as(at::TensorIteratorBase& iter,
               at::ScalarType common,
               void (&kernel)(const kernels::Iterator&, cudaStream_t, Parameters...),
               const Arguments&... arguments) {
  for_each_iterator(iter, common, [&](const kernels::Iterator& iterator) {
    kernel(iterator, getCurrentStream(), arguments...);
  });
}

// As launch_as, in the iterator's common dtype.
//   launch(iter, kernels::table().unary.exp);
template <class... Parameters, class... Arguments>
void launch(at::TensorIteratorBase& iter,
            void (&kernel)(const kernels::Iterator&, cudaStream_t, Parameters...),
            const Arguments&... arguments) {
  launch_as(iter, iter.common_dtype(), kernel, arguments...);
}

}  // namespace anvil::native
