// Numbers beside tensors, in the dtype in which they are used.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include "aten_ops/kernels/scalar.h"

namespace anvil::native {

// Throws upstream's "value cannot be converted to type ... without overflow"
// unless `dtype` can hold the value (300 in a byte, NaN in an integer, an
// imaginary part in a real dtype).
void check_fits(const c10::Scalar& value, at::ScalarType dtype);

// The value as `dtype` has it (2 is true in bool), checked by check_fits().
kernels::Scalar to_scalar_in(at::ScalarType dtype, const c10::Scalar& value);

// The same in the dtype in which kernels compute on `dtype`: float for half and bfloat16.
kernels::Scalar to_compute_scalar(at::ScalarType dtype, const c10::Scalar& value);

}  // namespace anvil::native
