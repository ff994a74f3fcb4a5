// Lists of element types that several families dispatch over.
#pragma once

#include "aten_ops/kernels/dispatch.h"

namespace anvil::kernels {

using RealTypes =
    TypeList<float, double, Half, BFloat16, bool, uint8_t, int8_t, int16_t, int32_t, int64_t>;
using AllTypes = TypeList<float,
                          double,
                          Half,
                          BFloat16,
                          bool,
                          uint8_t,
                          int8_t,
                          int16_t,
                          int32_t,
                          int64_t,
                          Complex<float>,
                          Complex<double>>;

}  // namespace anvil::kernels
