// Concatenation of contiguous tensors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace anvil::kernels {

// `count` inputs of [rows, length_i] elements, contiguous, become columns
// [column_i, column_i + length_i) of an output whose rows are `row_stride`
// elements apart. Many inputs are given in several calls.
struct Concat {
  static constexpr int kMaxInputs = 64;
  int count = 0;
  int64_t rows = 0;
  int64_t row_stride = 0;
  void* output = nullptr;
  const void* input[kMaxInputs] = {};
  int64_t length[kMaxInputs] = {};
  int64_t column[kMaxInputs] = {};
};

struct ConcatKernels {
  // Elements of 1, 2, 4, 8 or 16 bytes.
  void (&concat)(const Concat&, int element_bytes, cudaStream_t);
};

extern const ConcatKernels concat_kernels;

}  // namespace anvil::kernels
