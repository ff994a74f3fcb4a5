// Variance, standard deviation, and the mean beside them.
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/real.h>

#include <limits>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/native/Reduction.h"
#include "backend/Stream.h"
#include "generated/reduction_native.h"

namespace anvil::native {
namespace {

void check(const char* name, const at::Tensor& self) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()) || at::isComplexType(self.scalar_type()), name,
              " only support floating point and complex dtypes");
}

// `mean` may be undefined. Real input.
void variance_into(const char* name,
                   const at::Tensor& self,
                   at::OptionalIntArrayRef dims,
                   double correction,
                   bool keepdim,
                   bool square_root,
                   const at::Tensor& out,
                   const at::Tensor& mean) {
  if (out.numel() == 0) {
    return;
  }
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  if (self.numel() / out.numel() - correction <= 0) {
    TORCH_WARN(name, "(): degrees of freedom is <= 0. Correction should be strictly less than ",
               "the reduction factor (input numel divided by output numel).");
  }
  if (self.numel() == 0) {
    out.fill_(std::numeric_limits<double>::quiet_NaN());
    if (mean.defined()) {
      mean.fill_(std::numeric_limits<double>::quiet_NaN());
    }
    return;
  }
  kernels::Reduction reduction =
      make_kernel_reduction(self, mask, keepdim, out, mean, ReduceOrder::kAny);
  const c10::DataPtr scratch = allocate_scratch(reduction);
  kernels::table().reduce.variance(reduction, correction, square_root, getCurrentStream());
}

at::Tensor& variance_out(const char* name,
                         const at::Tensor& self,
                         at::OptionalIntArrayRef dims,
                         const std::optional<at::Scalar>& correction,
                         bool keepdim,
                         bool square_root,
                         at::Tensor& out) {
  check("std and var", self);
  const at::ScalarType real_dtype = c10::toRealValueType(self.scalar_type());
  TORCH_CHECK(at::canCast(real_dtype, out.scalar_type()), "result type ", real_dtype,
              " can't be cast to the desired output type ", out.scalar_type());
  const double divisor_correction = correction.value_or(1).toDouble();
  if (self.is_complex()) {
    // The variance of a complex variable is the sum of its components'.
    at::Tensor real = at::empty({0}, out.options());
    at::Tensor imag = at::empty({0}, out.options());
    variance_out(name, at::real(self), dims, correction, keepdim, false, real);
    variance_out(name, at::imag(self), dims, correction, keepdim, false, imag);
    at::native::resize_output(out, real.sizes());
    out.copy_(square_root ? real.add_(imag).sqrt_() : real.add_(imag));
    return out;
  }
  const auto mask = at::native::make_dim_mask(dims, self.dim());
  at::native::resize_reduction_result(out, self, mask, keepdim, out.scalar_type());
  const at::Tensor input = out.scalar_type() == at::kDouble ? self.to(at::kDouble) : self;
  variance_into(name, input, dims, divisor_correction, keepdim, square_root, out, {});
  return out;
}

std::tuple<at::Tensor, at::Tensor> variance_and_mean(const char* name,
                                                     const at::Tensor& self,
                                                     at::OptionalIntArrayRef dims,
                                                     const std::optional<at::Scalar>& correction,
                                                     bool keepdim,
                                                     bool square_root) {
  check(name, self);
  const at::ScalarType real_dtype = c10::toRealValueType(self.scalar_type());
  if (self.is_complex()) {
    const auto [real_variance, real_mean] =
        variance_and_mean(name, at::real(self), dims, correction, keepdim, false);
    const auto [imag_variance, imag_mean] =
        variance_and_mean(name, at::imag(self), dims, correction, keepdim, false);
    at::Tensor variance = real_variance.add(imag_variance);
    return {square_root ? variance.sqrt_() : variance, at::complex(real_mean, imag_mean)};
  }
  at::Tensor variance = at::native::create_reduction_result(self, dims, keepdim, real_dtype);
  at::Tensor mean = at::native::create_reduction_result(self, dims, keepdim, real_dtype);
  variance_into(name, self, dims, correction.value_or(1).toDouble(), keepdim, square_root, variance,
                mean);
  return {variance, mean};
}

at::Tensor variance(const char* name,
                    const at::Tensor& self,
                    at::OptionalIntArrayRef dims,
                    const std::optional<at::Scalar>& correction,
                    bool keepdim,
                    bool square_root) {
  at::Tensor out = at::empty({0}, self.options().dtype(c10::toRealValueType(self.scalar_type())));
  return variance_out(name, self, dims, correction, keepdim, square_root, out);
}

}  // namespace

at::Tensor var_correction(const at::Tensor& self,
                          at::OptionalIntArrayRef dims,
                          const std::optional<at::Scalar>& correction,
                          bool keepdim) {
  return variance("var", self, dims, correction, keepdim, false);
}
at::Tensor& var_correction_out(const at::Tensor& self,
                               at::OptionalIntArrayRef dims,
                               const std::optional<at::Scalar>& correction,
                               bool keepdim,
                               at::Tensor& out) {
  return variance_out("var", self, dims, correction, keepdim, false, out);
}
at::Tensor std_correction(const at::Tensor& self,
                          at::OptionalIntArrayRef dims,
                          const std::optional<at::Scalar>& correction,
                          bool keepdim) {
  return variance("std", self, dims, correction, keepdim, true);
}
at::Tensor& std_correction_out(const at::Tensor& self,
                               at::OptionalIntArrayRef dims,
                               const std::optional<at::Scalar>& correction,
                               bool keepdim,
                               at::Tensor& out) {
  return variance_out("std", self, dims, correction, keepdim, true, out);
}
std::tuple<at::Tensor, at::Tensor> var_mean_correction(const at::Tensor& self,
                                                       at::OptionalIntArrayRef dims,
                                                       const std::optional<at::Scalar>& correction,
                                                       bool keepdim) {
  return variance_and_mean("var_mean", self, dims, correction, keepdim, false);
}
std::tuple<at::Tensor, at::Tensor> std_mean_correction(const at::Tensor& self,
                                                       at::OptionalIntArrayRef dims,
                                                       const std::optional<at::Scalar>& correction,
                                                       bool keepdim) {
  return variance_and_mean("std_mean", self, dims, correction, keepdim, true);
}

}  // namespace anvil::native
