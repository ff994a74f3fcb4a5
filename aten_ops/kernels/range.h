// Sequences of numbers.
#pragma once

#include <cuda_runtime_api.h>

#include "aten_ops/kernels/scalar.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// `output`: n dense elements of `dtype`, one of the arithmetic types. Both
// compute in int64_t for integers, float for floating types up to 32 bits, else
// double, as CUDA's kernels do.
struct RangeKernels {
  // start + step * i
  void (&arange)(
      void* output, ScalarType dtype, int64_t n, Scalar start, Scalar step, cudaStream_t stream);
  // n points from start to end, both included; each half is counted from its
  // own end, so that the last point is exact. Steps of integers are floats.
  void (&linspace)(
      void* output, ScalarType dtype, int64_t n, Scalar start, Scalar end, cudaStream_t stream);
};

extern const RangeKernels range_kernels;

}  // namespace anvil::kernels
