// Dropout with CUDA's numbers: which draw decides over which element is that of
// PyTorch's CUDA kernel, whose threads take vectors of elements.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/philox.h"
#include "aten_ops/kernels/random.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

struct DropoutKernels {
  // output[i] = mask[i] ? input[i] / keep : 0, mask[i] with probability `keep`;
  // n elements each, contiguous; float, double, Half, BFloat16. The grid is
  // RandomGrid's with 4 draws a round. `vector`: consecutive elements for a
  // thread, 2, 4 or 8 (n is a multiple), or 1 for elements a grid apart.
  void (&dropout)(const void* input,
                  void* output,
                  bool* mask,
                  ScalarType,
                  int64_t n,
                  double keep,
                  int vector,
                  RandomGrid,
                  PhiloxState,
                  cudaStream_t);
  // output[i] = mask[i] ? input[i] * scale : 0; n elements each, contiguous.
  void (&masked_scale)(const void* input,
                       const bool* mask,
                       void* output,
                       ScalarType,
                       int64_t n,
                       double scale,
                       cudaStream_t);
};

extern const DropoutKernels dropout_kernels;

}  // namespace anvil::kernels
