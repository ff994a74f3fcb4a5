// Triangles of matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/dims.h"

namespace anvil::kernels {

struct TriangularKernels {
  // A batch of matrices, dims innermost first: columns, rows, batch dimensions;
  // operand 0 is the output, operand 1 the input (they may be the same).
  // Keeps the elements with column - row <= k (lower) or >= k (upper), and
  // writes 0 elsewhere. Elements of 1, 2, 4, 8 or 16 bytes whose zero is all
  // bits 0.
  void (&triangle)(const Dims<2>&,
                   void* output,
                   const void* input,
                   int element_bytes,
                   bool upper,
                   int64_t k,
                   cudaStream_t);
};

extern const TriangularKernels triangular_kernels;

}  // namespace anvil::kernels
