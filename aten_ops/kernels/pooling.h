// Pooling over the last two dimensions of images: the interface between glue and
// kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Input images [batch, channels, in_height, in_width] and output images
// [batch, channels, out_height, out_width], both dense, in that order or with
// the channels last.
struct PoolShape {
  int64_t batch;
  int64_t channels;
  int64_t in_height;
  int64_t in_width;
  int64_t out_height;
  int64_t out_width;
  bool channels_last;
};

struct PoolWindow {
  int64_t height;
  int64_t width;
  int64_t stride_height;
  int64_t stride_width;
  int64_t pad_height;
  int64_t pad_width;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
};

struct AveragePool {
  PoolWindow window;
  bool count_include_pad;
  int64_t divisor_override;  // 0: none
};

// All enqueue on `stream` and return at once. Tensors of one call have `dtype`
// (floating), indices are int64 and count positions of an input image. Gradients
// are gathered, so that they do not depend on timing. Sums in float (double for
// double).
struct PoolingKernels {
  // The largest value of a window (NaN wins, the first of equals) and its index.
  void (&max)(const void* input,
              void* output,
              void* indices,
              ScalarType dtype,
              const PoolShape&,
              const PoolWindow&,
              cudaStream_t);
  void (&max_backward)(const void* grad_output,
                       const void* indices,
                       void* grad_input,
                       ScalarType dtype,
                       const PoolShape&,
                       const PoolWindow&,
                       cudaStream_t);
  void (&average)(const void* input,
                  void* output,
                  ScalarType dtype,
                  const PoolShape&,
                  const AveragePool&,
                  cudaStream_t);
  void (&average_backward)(const void* grad_output,
                           void* grad_input,
                           ScalarType dtype,
                           const PoolShape&,
                           const AveragePool&,
                           cudaStream_t);
  // Windows [floor(o * in / out), ceil((o + 1) * in / out)).
  void (&adaptive_average)(
      const void* input, void* output, ScalarType dtype, const PoolShape&, cudaStream_t);
  void (&adaptive_average_backward)(
      const void* grad_output, void* grad_input, ScalarType dtype, const PoolShape&, cudaStream_t);
};

extern const PoolingKernels pooling_kernels;

}  // namespace anvil::kernels
