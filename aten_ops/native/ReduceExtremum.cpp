// Extrema and their positions.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/native/Reduction.h"
#include "generated/reduction_native.h"

namespace anvil::native {
namespace {

void check_not_empty(const at::Tensor& self, const char* name) {
  TORCH_CHECK(self.numel() > 0, name,
              "(): Expected reduction dim to be specified for input.numel() == 0. Specify the ",
              "reduction dim with the 'dim' argument.");
}

void extremum(ReduceFunction& kernel,
              const at::Tensor& self,
              at::OptionalIntArrayRef dims,
              bool keepdim,
              const at::Tensor& out) {
  // An output of another dtype (out= of amax) is refused by the meta function.
  launch_reduction(kernel, self, dims, keepdim, out);
}

void position(ReduceFunction& kernel,
              const at::Tensor& self,
              std::optional<int64_t> dim,
              bool keepdim,
              const at::Tensor& out) {
  const std::optional<at::IntArrayRef> dims =
      dim.has_value() ? std::optional<at::IntArrayRef>(*dim) : std::nullopt;
  launch_reduction(kernel, self, dims, keepdim, {}, out, ReduceOrder::kLogical);
}

}  // namespace

TORCH_IMPL_FUNC(amax_out)
(const at::Tensor& self, at::IntArrayRef dims, bool keepdim, const at::Tensor& out) {
  extremum(kernels::table().reduce.max, self, dims, keepdim, out);
}
TORCH_IMPL_FUNC(amin_out)
(const at::Tensor& self, at::IntArrayRef dims, bool keepdim, const at::Tensor& out) {
  extremum(kernels::table().reduce.min, self, dims, keepdim, out);
}

TORCH_IMPL_FUNC(aminmax_out)
(const at::Tensor& self,
 std::optional<int64_t> dim,
 bool keepdim,
 const at::Tensor& min,
 const at::Tensor& max) {
  const std::optional<at::IntArrayRef> dims =
      dim.has_value() ? std::optional<at::IntArrayRef>(*dim) : std::nullopt;
  extremum(kernels::table().reduce.min, self, dims, keepdim, min);
  extremum(kernels::table().reduce.max, self, dims, keepdim, max);
}

TORCH_IMPL_FUNC(argmax_out)
(const at::Tensor& self, std::optional<int64_t> dim, bool keepdim, const at::Tensor& out) {
  position(kernels::table().reduce.max_with_index, self, dim, keepdim, out);
}
TORCH_IMPL_FUNC(argmin_out)
(const at::Tensor& self, std::optional<int64_t> dim, bool keepdim, const at::Tensor& out) {
  position(kernels::table().reduce.min_with_index, self, dim, keepdim, out);
}

TORCH_IMPL_FUNC(max_dim_max)
(const at::Tensor& self,
 int64_t dim,
 bool keepdim,
 const at::Tensor& values,
 const at::Tensor& indices) {
  launch_reduction(kernels::table().reduce.max_with_index, self, at::IntArrayRef(dim), keepdim,
                   values, indices, ReduceOrder::kLogical);
}
TORCH_IMPL_FUNC(min_dim_min)
(const at::Tensor& self,
 int64_t dim,
 bool keepdim,
 const at::Tensor& values,
 const at::Tensor& indices) {
  launch_reduction(kernels::table().reduce.min_with_index, self, at::IntArrayRef(dim), keepdim,
                   values, indices, ReduceOrder::kLogical);
}

at::Tensor max(const at::Tensor& self) {
  check_not_empty(self, "max");
  at::Tensor out = at::empty({}, self.options());
  extremum(kernels::table().reduce.max, self, std::nullopt, false, out);
  return out;
}
at::Tensor min(const at::Tensor& self) {
  check_not_empty(self, "min");
  at::Tensor out = at::empty({}, self.options());
  extremum(kernels::table().reduce.min, self, std::nullopt, false, out);
  return out;
}

namespace {

at::Tensor& extremum_out(ReduceFunction& kernel,
                         const char* name,
                         const at::Tensor& self,
                         at::Tensor& out) {
  check_not_empty(self, name);
  using c10::canCast, c10::typeMetaToScalarType;
  TORCH_CHECK(canCast(typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())));
  at::native::resize_output(out, {});
  if (self.dtype() == out.dtype()) {
    extremum(kernel, self, std::nullopt, false, out);
  } else {
    const at::Tensor result = at::empty({}, self.options());
    extremum(kernel, self, std::nullopt, false, result);
    out.copy_(result);
  }
  return out;
}

}  // namespace

at::Tensor& max_unary_out(const at::Tensor& self, at::Tensor& out) {
  return extremum_out(kernels::table().reduce.max, "max", self, out);
}
at::Tensor& min_unary_out(const at::Tensor& self, at::Tensor& out) {
  return extremum_out(kernels::table().reduce.min, "min", self, out);
}

}  // namespace anvil::native
