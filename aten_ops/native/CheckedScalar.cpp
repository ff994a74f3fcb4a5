#include "aten_ops/native/CheckedScalar.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/OpMathType.h>

#include "aten_ops/native/Loops.h"

namespace anvil::native {

void check_fits(const c10::Scalar& value, at::ScalarType dtype) {
  AT_DISPATCH_V2(dtype, "check_fits", AT_WRAP([&] { (void)value.to<scalar_t>(); }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES),
                 AT_EXPAND(AT_FLOAT8_TYPES), at::kHalf, at::kBFloat16, at::kBool, at::kComplexHalf);
}

kernels::Scalar to_scalar_in(at::ScalarType dtype, const c10::Scalar& value) {
  check_fits(value, dtype);
  return dtype == at::kBool ? kernels::Scalar(value.toBool()) : to_scalar(value);
}

kernels::Scalar to_compute_scalar(at::ScalarType dtype, const c10::Scalar& value) {
  return to_scalar_in(at::toOpMathType(dtype), value);
}

}  // namespace anvil::native
