// Positions of the elements that are not zero.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

struct NonzeroKernels {
  // Blocks that the input is cut into.
  static constexpr int64_t kPerBlock = 2048;
  static int64_t blocks(int64_t n) { return (n + kPerBlock - 1) / kPerBlock; }

  // Counts the non-zero elements of input[n] (contiguous) before each block:
  // counts[blocks(n) + 1], the last of which is the total. Two launches.
  void (&count)(const void* input, ScalarType, int64_t n, int64_t* counts, cudaStream_t);
  // Coordinates of the non-zero elements in ascending order of position:
  // output[d * stride_d + i * stride_i] is coordinate d of the ith, for a
  // tensor of `ndim` (at most 16) dimensions of the given sizes, outermost
  // first. `counts` as count() left it. Strides in elements.
  void (&write)(const void* input,
                ScalarType,
                int64_t n,
                const int64_t* counts,
                int ndim,
                const int64_t* sizes,
                int64_t* output,
                int64_t stride_i,
                int64_t stride_d,
                cudaStream_t);
  // The counts before every element instead: prefix[i] is the number of
  // non-zero elements before element i. For masked_scatter.
  void (&prefix)(const void* input,
                 ScalarType,
                 int64_t n,
                 const int64_t* counts,
                 int64_t* prefix,
                 cudaStream_t);
};

extern const NonzeroKernels nonzero_kernels;

}  // namespace anvil::kernels
