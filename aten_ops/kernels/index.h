// Gather and scatter: every operator that addresses a tensor through index
// tensors. index, index_put, index_select, gather, scatter, take, put,
// embedding and their like are the same walk with other strides.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// One walk over positions. Three kinds of tensors take part: the *direct* one,
// addressed by position (what gather writes and scatter reads); the index
// tensors, addressed by position; and the *indexed* one, addressed by
//   position (stride 0 in the dimensions that are indexed)
//   + sum over the index tensors of index * step.
// Dimension 0 is the fastest. All strides and steps are in bytes, all pointers
// are device addresses.
struct IndexWalk {
  static constexpr int kMaxDims = 16;
  static constexpr int kMaxIndices = 8;

  int ndim = 0;
  int64_t size[kMaxDims];

  void* direct = nullptr;
  int64_t direct_stride[kMaxDims] = {};
  // The direct operand of a scatter is one value, and not `direct`.
  bool direct_is_immediate = false;
  alignas(16) unsigned char immediate[16];

  void* indexed = nullptr;
  int64_t indexed_stride[kMaxDims] = {};

  int nindices = 0;  // 0: a strided copy
  // The index may be negative and then counts from the end.
  bool wraps = false;
  const void* index[kMaxIndices];  // int64
  int64_t index_stride[kMaxIndices][kMaxDims] = {};
  int64_t bound[kMaxIndices];  // elements of the indexed dimension
  int64_t step[kMaxIndices];   // bytes from one index to the next

  int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) {
      n *= size[d];
    }
    return n;
  }
};

enum class ScatterReduction { kAdd, kMultiply, kMaximum, kMinimum };

// An index out of range fails the launch: a message on stderr and an error at
// the next synchronisation, as CUDA's device-side assertions.
struct IndexKernels {
  // direct = indexed. Elements of 1, 2, 4, 8 or 16 bytes.
  void (&gather)(const IndexWalk&, int element_bytes, cudaStream_t);
  // indexed = direct. Where positions meet in one element, one of them wins.
  void (&scatter)(const IndexWalk&, int element_bytes, cudaStream_t);
  // indexed = indexed (reduction) direct, atomic, in no order. Adds all types
  // (bool: or), multiplies and compares real types; NaN wins comparisons.
  void (&scatter_reduce)(const IndexWalk&, ScalarType, ScatterReduction, cudaStream_t);
  // For each position of the walk without dimension 0 (on which no index may
  // depend), the byte offset of its element 0 in `indexed`, into
  // offsets[positions]. -1 where the first index is `skip` (-1: nowhere).
  void (&row_offsets)(const IndexWalk&, int64_t skip, int64_t* offsets, cudaStream_t);
  // Like scatter (add: like scatter_reduce with kAdd), but each element of
  // `indexed` takes its positions in ascending order and so to the same bits
  // every time. `offsets` are row_offsets' of this walk; a row of dimension 0
  // is taken as a whole, so rows must be equal or disjoint.
  // Cost: every row is looked at by each of up to a few hundred blocks.
  void (&scatter_in_order)(
      const IndexWalk&, ScalarType, bool add, const int64_t* offsets, cudaStream_t);
};

extern const IndexKernels index_kernels;

}  // namespace anvil::kernels
