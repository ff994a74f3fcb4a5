// Running reductions along a dimension: the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Contiguous tensors seen as [outer, length, inner], scanned along `length`;
// all sizes are positive.
struct ScanShape {
  int64_t outer;
  int64_t length;
  int64_t inner;
};

// All enqueue one kernel on `stream` and return at once. `input` and `output`
// (or `values`) have `dtype` and may be the same memory. Floating types
// accumulate in double, so that the error of a long sum stays that of its last
// rounding.
struct ScanKernels {
  void (&cumsum)(const void* input, void* output, ScalarType dtype, ScanShape, cudaStream_t);
  void (&cumprod)(const void* input, void* output, ScalarType dtype, ScanShape, cudaStream_t);
  // log(sum(exp(x))), floating types.
  void (&logcumsumexp)(const void* input, void* output, ScalarType dtype, ScanShape, cudaStream_t);
  // Real types. indices: int64, the last position of the extremum so far. NaN
  // is the extremum.
  void (&cummax)(
      const void* input, void* values, void* indices, ScalarType dtype, ScanShape, cudaStream_t);
  void (&cummin)(
      const void* input, void* values, void* indices, ScalarType dtype, ScanShape, cudaStream_t);
};

extern const ScanKernels scan_kernels;

}  // namespace anvil::kernels
