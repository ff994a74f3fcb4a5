// gather, scatter and scatter's reductions: DispatchStubs of upstream's
// structured kernels.
#include <ATen/Context.h>
#include <ATen/native/ReductionType.h>
#include <ATen/native/TensorAdvancedIndexing.h>

#include "aten_ops/native/IndexWalk.h"
#include "aten_ops/native/Loops.h"

namespace anvil::native {
namespace {

using at::native::ReductionType;
using kernels::ScatterReduction;

bool deterministic() { return at::globalContext().deterministicAlgorithms(); }

ScatterReduction reduction_of(ReductionType reduction) {
  switch (reduction) {
    case ReductionType::SUM:
    case ReductionType::MEAN:  // upstream divides by the counts
      return ScatterReduction::kAdd;
    case ReductionType::PROD:
      return ScatterReduction::kMultiply;
    case ReductionType::MAX:
      return ScatterReduction::kMaximum;
    case ReductionType::MIN:
      return ScatterReduction::kMinimum;
  }
  TORCH_CHECK(false, "scatter: unknown reduction");
}

void check_reducible(at::ScalarType dtype, ScatterReduction reduction) {
  const bool adds = reduction == ScatterReduction::kAdd;
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(dtype) || at::isIntegralType(dtype, true) ||
                                  (adds && at::isComplexType(dtype)),
                              "\"scatter_reduce\" not implemented for '", dtype, "'");
}

// Indices may be int32 too: the walk holds addresses, so the caller keeps what
// this returns until its kernel is enqueued.
at::Tensor positions(const at::Tensor& index) { return index.to(at::kLong); }

void gather(const at::Tensor& result,
            const at::Tensor& self,
            int64_t dim,
            const at::Tensor& index) {
  const at::Tensor along = positions(index);
  kernels::table().index.gather(walk_along(self, dim, along, result),
                                static_cast<int>(self.element_size()), getCurrentStream());
}

void scatter(const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  const at::Tensor along = positions(index);
  const kernels::IndexWalk walk = walk_along(self, dim, along, src);
  if (deterministic()) {
    scatter_in_order(walk, self.scalar_type(), false, -1, self.options());
  } else {
    kernels::table().index.scatter(walk, static_cast<int>(self.element_size()), getCurrentStream());
  }
}

void scatter_fill(const at::Tensor& self,
                  int64_t dim,
                  const at::Tensor& index,
                  const at::Scalar& value) {
  const at::Tensor along = positions(index);
  kernels::IndexWalk walk = walk_along(self, dim, along, {});
  set_immediate(walk, value, self.scalar_type());
  kernels::table().index.scatter(walk, static_cast<int>(self.element_size()), getCurrentStream());
}

void reduce(const at::Tensor& self, kernels::IndexWalk walk, ScatterReduction reduction) {
  check_reducible(self.scalar_type(), reduction);
  if (reduction == ScatterReduction::kAdd && deterministic() && !walk.direct_is_immediate) {
    scatter_in_order(walk, self.scalar_type(), true, -1, self.options());
  } else {
    kernels::table().index.scatter_reduce(walk, to_scalar_type(self.scalar_type()), reduction,
                                          getCurrentStream());
  }
}

void scatter_add(const at::Tensor& self,
                 int64_t dim,
                 const at::Tensor& index,
                 const at::Tensor& src) {
  const at::Tensor along = positions(index);
  reduce(self, walk_along(self, dim, along, src), ScatterReduction::kAdd);
}

// Sums are taken in order and extrema don't depend on it; products are left to
// atomics. Note [Writing Nondeterministic Operations] upstream.
void scatter_reduce(const at::Tensor& self,
                    const int64_t dim,
                    const at::Tensor& index,
                    const at::Tensor& src,
                    const ReductionType& reduction) {
  const ScatterReduction operation = reduction_of(reduction);
  if (operation == ScatterReduction::kMultiply) {
    at::globalContext().alertNotDeterministic("scatter_reduce_anvil_prod_kernel");
  }
  const at::Tensor along = positions(index);
  reduce(self, walk_along(self, dim, along, src), operation);
}

void scatter_scalar_reduce(const at::Tensor& self,
                           const int64_t dim,
                           const at::Tensor& index,
                           const at::Scalar& value,
                           const ReductionType& reduction) {
  const at::Tensor along = positions(index);
  kernels::IndexWalk walk = walk_along(self, dim, along, {});
  set_immediate(walk, value, self.scalar_type());
  reduce(self, walk, reduction_of(reduction));
}

}  // namespace
}  // namespace anvil::native

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(gather_stub, &::anvil::native::gather)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_stub, &::anvil::native::scatter)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_fill_stub, &::anvil::native::scatter_fill)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_add_stub, &::anvil::native::scatter_add)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_reduce_stub, &::anvil::native::scatter_reduce)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_reduce_two_stub, &::anvil::native::scatter_reduce)
REGISTER_PRIVATEUSE1_DISPATCH(scatter_scalar_reduce_stub, &::anvil::native::scatter_scalar_reduce)

}  // namespace at::native
