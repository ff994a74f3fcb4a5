// Stable sort along rows: the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

struct SortKernels {
  // Bytes of scratch memory that sorting `rows` rows of `length` elements needs.
  size_t (&scratch_bytes)(ScalarType dtype, int64_t rows, int64_t length);
  // Sorts each row of the contiguous [rows, length] `input` (real dtypes, both
  // sizes positive) into `values` of the same dtype and `indices` (int64), the
  // positions in the row that they come from. Stable; NaN is larger than all
  // other values. Enqueues on `stream` and returns at once: one kernel for each
  // doubling of the sorted runs.
  void (&sort)(const void* input,
               void* values,
               void* indices,
               ScalarType dtype,
               int64_t rows,
               int64_t length,
               bool descending,
               void* scratch,
               cudaStream_t);
};

extern const SortKernels sort_kernels;

}  // namespace anvil::kernels
