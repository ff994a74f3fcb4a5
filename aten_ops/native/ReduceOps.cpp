// Sums, means, products, norms, any and all.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/native/Reduction.h"
#include "backend/Stream.h"
#include "generated/reduction_native.h"

namespace anvil::native {
namespace {

// Note [Casts before a reduction]
// Upstream converts the input to the output's dtype first, in a copy of its own,
// but for half and bfloat16 to float on CUDA. Ours spares that copy wherever the
// kernel accumulates in a type that makes no difference: those two, and integers
// (whose sums wrap the same way). bool as the output is converted first, since
// it asks for "not zero" of each element and not of the sum.
at::Tensor cast_for_reduction(const at::Tensor& self, at::ScalarType out_dtype) {
  const at::ScalarType dtype = self.scalar_type();
  const bool widened_in_kernel =
      (dtype == at::kHalf || dtype == at::kBFloat16) && out_dtype == at::kFloat;
  const bool both_integral = at::isIntegralType(dtype, /*includeBool=*/true) &&
                             at::isIntegralType(out_dtype, /*includeBool=*/false);
  return dtype == out_dtype || widened_in_kernel || both_integral ? self : self.to(out_dtype);
}

void reduce_or_fill(ReduceFunction& kernel,
                    const at::Tensor& self,
                    at::OptionalIntArrayRef dims,
                    bool keepdim,
                    const at::Tensor& out,
                    const at::Scalar& identity) {
  if (self.numel() == 0) {
    out.fill_(identity);
    return;
  }
  launch_reduction(kernel, cast_for_reduction(self, out.scalar_type()), dims, keepdim, out);
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TORCH_IMPL_FUNC(sum_IntList_out)
(const at::Tensor& self,
 at::OptionalIntArrayRef dims,
 bool keepdim,
 std::optional<at::ScalarType>,
 const at::Tensor& out) {
  reduce_or_fill(kernels::table().reduce.sum, self, dims, keepdim, out, 0);
}

TORCH_IMPL_FUNC(mean_out)
(const at::Tensor& self,
 at::OptionalIntArrayRef dims,
 bool keepdim,
 std::optional<at::ScalarType>,
 const at::Tensor& out) {
  reduce_or_fill(kernels::table().reduce.mean, self, dims, keepdim, out, kNaN);
}

TORCH_IMPL_FUNC(prod_int_out)
(const at::Tensor& self,
 int64_t dim,
 bool keepdim,
 std::optional<at::ScalarType>,
 const at::Tensor& out) {
  reduce_or_fill(kernels::table().reduce.prod, self, at::IntArrayRef(dim), keepdim, out, 1);
}

at::Tensor prod(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  const at::ScalarType out_dtype =
      at::native::get_dtype_from_self(self, dtype, /*promote_integers=*/true);
  at::Tensor out = at::empty({}, self.options().dtype(out_dtype));
  reduce_or_fill(kernels::table().reduce.prod, self, std::nullopt, false, out, 1);
  return out;
}

at::Tensor& nansum_out(const at::Tensor& self,
                       at::OptionalIntArrayRef dims,
                       bool keepdim,
                       std::optional<at::ScalarType> dtype,
                       at::Tensor& out) {
  // For integral types, use existing sum as integral types don't have NaN.
  const at::ScalarType out_dtype = at::native::get_dtype_from_result(out, dtype);
  TORCH_CHECK(out.scalar_type() == out_dtype, "nansum: provided dtype must match dtype of result. ",
              "Got ", out.scalar_type(), " and ", out_dtype, ".");
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  at::native::resize_reduction_result(out, self, mask, keepdim, out_dtype);
  const auto& reduce = kernels::table().reduce;
  if (self.is_complex()) {
    reduce_or_fill(reduce.sum, at::where(self.isnan(), 0, self), dims, keepdim, out, 0);
    return out;
  }
  const bool integral = at::isIntegralType(self.scalar_type(), /*includeBool=*/true);
  reduce_or_fill(integral ? reduce.sum : reduce.nansum, self, dims, keepdim, out, 0);
  return out;
}

at::Tensor nansum(const at::Tensor& self,
                  at::OptionalIntArrayRef dims,
                  bool keepdim,
                  std::optional<at::ScalarType> dtype) {
  const at::ScalarType out_dtype =
      at::native::get_dtype_from_self(self, dtype, /*promote_integers=*/true);
  at::Tensor out = at::native::create_reduction_result(self, dims, keepdim, out_dtype);
  nansum_out(self, dims, keepdim, out_dtype, out);
  return out;
}

namespace {

void reduce_logic(const at::Tensor& self,
                  at::OptionalIntArrayRef dims,
                  bool keepdim,
                  bool all,
                  const at::Tensor& out) {
  if (self.numel() == 0) {
    out.fill_(all ? 1 : 0);
    return;
  }
  // The kernel reads the dtypes on which torch computes; the others become such first.
  if (at::isFloat8Type(self.scalar_type())) {
    return reduce_logic(self.to(at::kFloat), dims, keepdim, all, out);
  }
  if (at::isBarebonesUnsignedType(self.scalar_type())) {
    return reduce_logic(self.ne(0), dims, keepdim, all, out);
  }
  // An empty list of dimensions (of any.dims, all.dims) reduces nothing.
  const bool nothing = dims.has_value() && dims->empty();
  const auto mask = nothing ? at::native::DimMask() : at::native::make_dim_mask(dims, self.dim());
  kernels::Reduction reduction =
      make_kernel_reduction(self, mask, keepdim, out, {}, ReduceOrder::kAny);
  const c10::DataPtr scratch = allocate_scratch(reduction);
  const auto& reduce = kernels::table().reduce;
  (all ? reduce.all : reduce.any)(reduction, getCurrentStream());
}

}  // namespace

TORCH_IMPL_FUNC(any_out)
(const at::Tensor& self, int64_t dim, bool keepdim, const at::Tensor& out) {
  reduce_logic(self, at::IntArrayRef(dim), keepdim, false, out);
}
TORCH_IMPL_FUNC(any_dims_out)
(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, const at::Tensor& out) {
  reduce_logic(self, dims, keepdim, false, out);
}
TORCH_IMPL_FUNC(any_all_out)(const at::Tensor& self, const at::Tensor& out) {
  reduce_logic(self, std::nullopt, false, false, out);
}
TORCH_IMPL_FUNC(all_out)
(const at::Tensor& self, int64_t dim, bool keepdim, const at::Tensor& out) {
  reduce_logic(self, at::IntArrayRef(dim), keepdim, true, out);
}
TORCH_IMPL_FUNC(all_dims_out)
(const at::Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, const at::Tensor& out) {
  reduce_logic(self, dims, keepdim, true, out);
}
TORCH_IMPL_FUNC(all_all_out)(const at::Tensor& self, const at::Tensor& out) {
  reduce_logic(self, std::nullopt, false, true, out);
}

namespace {

void vector_norm(const at::Tensor& self,
                 double p,
                 at::OptionalIntArrayRef dims,
                 bool keepdim,
                 std::optional<at::ScalarType> dtype,
                 const at::Tensor& out) {
  if (self.numel() == 0) {
    out.fill_(p < 0 ? std::numeric_limits<double>::infinity() : 0.0);
    return;
  }
  // Half and bfloat16 are widened by the kernel, other conversions come first.
  const at::ScalarType from = self.scalar_type();
  const at::ScalarType to = dtype.value_or(from);
  const bool widened_in_kernel = (from == at::kHalf || from == at::kBFloat16) && to == at::kFloat;
  at::Tensor input = from == to || widened_in_kernel ? self : self.to(to);
  // The gradient looks for the elements whose abs() is the result: to the bit.
  if (input.is_complex() && std::isinf(p)) {
    input = input.abs();
  }
  if (out.numel() == 0) {
    return;
  }
  kernels::Reduction reduction = make_kernel_reduction(
      input, at::native::make_dim_mask(dims, self.dim()), keepdim, out, {}, ReduceOrder::kAny);
  const c10::DataPtr scratch = allocate_scratch(reduction);
  kernels::table().reduce.norm(reduction, p, getCurrentStream());
}

}  // namespace

TORCH_IMPL_FUNC(linalg_vector_norm_out)
(const at::Tensor& self,
 const at::Scalar& ord,
 at::OptionalIntArrayRef dims,
 bool keepdim,
 std::optional<at::ScalarType> dtype,
 const at::Tensor& out) {
  vector_norm(self, ord.toDouble(), dims, keepdim, dtype, out);
}
TORCH_IMPL_FUNC(norm_out)
(const at::Tensor& self,
 at::OptionalScalarRef p,
 at::IntArrayRef dims,
 bool keepdim,
 const at::Tensor& out) {
  vector_norm(self, p.has_value() ? p.get().toDouble() : 2.0, dims, keepdim, std::nullopt, out);
}
TORCH_IMPL_FUNC(norm_dtype_out)
(const at::Tensor& self,
 at::OptionalScalarRef p,
 at::IntArrayRef dims,
 bool keepdim,
 at::ScalarType dtype,
 const at::Tensor& out) {
  vector_norm(self, p.has_value() ? p.get().toDouble() : 2.0, dims, keepdim, dtype, out);
}

}  // namespace anvil::native
