// Stable sort of integer keys with their positions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// Buffers of one sort of n keys, in device memory.
struct RadixSort {
  ScalarType key_dtype = ScalarType::Undefined;  // Int or Long
  int64_t n = 0;
  // Only the lowest `bits` bits count, as an unsigned number; with all bits of
  // the type, keys are signed.
  int bits = 0;
  const void* keys = nullptr;          // [n], not changed
  void* sorted_keys = nullptr;         // [n]
  int64_t* positions = nullptr;        // [n]: where sorted_keys[i] was in keys
  void* other_keys = nullptr;          // [n], scratch
  int64_t* other_positions = nullptr;  // [n], scratch
  int64_t* counts = nullptr;           // [count_size(n)], scratch

  static constexpr int kDigitBits = 4;
  static constexpr int kDigits = 1 << kDigitBits;
  static constexpr int64_t kPerBlock = 1024;
  static int64_t blocks(int64_t n) { return (n + kPerBlock - 1) / kPerBlock; }
  static int64_t count_size(int64_t n) { return blocks(n) * kDigits + 1; }
};

struct RadixSortKernels {
  // Least significant digit first (Knuth, TAOCP volume 3, 5.2.5): three
  // launches for each four bits. n > 0, bits > 0.
  void (&sort)(const RadixSort&, cudaStream_t);
};

extern const RadixSortKernels radix_sort_kernels;

}  // namespace anvil::kernels
