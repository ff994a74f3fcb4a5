// IndexWalk as kernels hold it.
#pragma once

#include "aten_ops/kernels/device_check.h"
#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/index.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
inline constexpr bool kHostExecutor = false;
#else
inline constexpr bool kHostExecutor = true;
#endif

struct DeviceIndexWalk {
  int ndim, nindices;
  bool wraps;
  // The index tensors share their strides, so one offset serves all.
  bool alike;
  int64_t size[IndexWalk::kMaxDims];
  int64_t direct_stride[IndexWalk::kMaxDims];
  int64_t indexed_stride[IndexWalk::kMaxDims];
  int64_t index_stride[IndexWalk::kMaxIndices][IndexWalk::kMaxDims];
  int64_t bound[IndexWalk::kMaxIndices];
  int64_t step[IndexWalk::kMaxIndices];
  Pointer<char> direct;
  Pointer<char> indexed;
  Pointer<const char> index[IndexWalk::kMaxIndices];

  explicit DeviceIndexWalk(const IndexWalk& walk)
      : ndim(walk.ndim),
        nindices(walk.nindices),
        wraps(walk.wraps),
        alike(true),
        direct(walk.direct_is_immediate ? nullptr : static_cast<char*>(walk.direct)),
        indexed(static_cast<char*>(walk.indexed)) {
    for (int d = 0; d < ndim; ++d) {
      size[d] = walk.size[d];
      direct_stride[d] = walk.direct_stride[d];
      indexed_stride[d] = walk.indexed_stride[d];
    }
    for (int k = 0; k < nindices; ++k) {
      bound[k] = walk.bound[k];
      step[k] = walk.step[k];
      index[k] = static_cast<const char*>(walk.index[k]);
      for (int d = 0; d < ndim; ++d) {
        index_stride[k][d] = walk.index_stride[k][d];
        alike = alike && index_stride[k][d] == index_stride[0][d];
      }
    }
  }

  // Positions of the dimensions from `first` on.
  int64_t positions(int first) const {
    int64_t n = 1;
    for (int d = first; d < ndim; ++d) {
      n *= size[d];
    }
    return n;
  }
  // Elements of dimension 0.
  ANVIL_DEVICE int64_t row() const { return ndim == 0 ? 1 : size[0]; }

  ANVIL_DEVICE int64_t offset(const int64_t* stride, int64_t position, int first) const {
    int64_t result = 0;
    for (int d = first; d + 1 < ndim; ++d) {
      const int64_t quotient = divide(position, size[d]);
      result += (position - quotient * size[d]) * stride[d];
      position = quotient;
    }
    if (first < ndim) {
      result += position * stride[ndim - 1];
    }
    return result;
  }
  ANVIL_DEVICE int64_t direct_offset(int64_t position, int first) const {
    return offset(direct_stride, position, first);
  }

  // The value of index tensor `k`, in [0, bound).
  ANVIL_DEVICE int64_t index_at(int k, int64_t index_offset) const {
    int64_t value = *reinterpret_cast<const int64_t*>(index[k] + index_offset);
    device_check(value < bound[k] && value >= (wraps ? -bound[k] : 0), "index out of bounds");
    return value < 0 ? value + bound[k] : value;
  }

  ANVIL_DEVICE int64_t indexed_offset(int64_t position, int first) const {
    int64_t result = offset(indexed_stride, position, first);
    int64_t index_offset = 0;
    for (int k = 0; k < nindices; ++k) {
      if (k == 0 || !alike) {
        index_offset = offset(index_stride[k], position, first);
      }
      result += index_at(k, index_offset) * step[k];
    }
    return result;
  }

  // No index tensor depends on dimension 0: a row is one run in both tensors.
  bool has_rows() const {
    for (int k = 0; k < nindices; ++k) {
      if (index_stride[k][0] != 0) {
        return false;
      }
    }
    return ndim > 0;
  }
  // Whether a block should take whole rows: the indices are then looked up once
  // a row, and its threads (lanes of the vector unit) walk dimension 0.
  bool takes_rows() const { return has_rows() && row() >= (kHostExecutor ? 4 : 64); }
};

// A block takes whole rows, or runs of positions.
inline constexpr int kIndexThreads = 256;
inline constexpr int64_t kPositionsPerBlock = 1024;

inline LaunchConfig index_config(const DeviceIndexWalk& walk) {
  if (walk.takes_rows()) {
    // One block for some rows; long enough rows get a block each.
    const int64_t rows = walk.positions(1);
    const int64_t per_block = std::max<int64_t>(1, 4096 / walk.row());
    const int threads = walk.row() >= 256 ? 256 : walk.row() >= 128 ? 128 : 64;
    return {.blocks = blocks_for(rows, per_block), .threads = threads};
  }
  return {.blocks = blocks_for(walk.positions(0), kPositionsPerBlock), .threads = kIndexThreads};
}

// Calls f(direct offset, indexed offset) for every position of the walk.
template <bool kRows, class Team, class F>
ANVIL_DEVICE void walk_positions(Team& team, const DeviceIndexWalk& walk, int64_t positions, F f) {
  if constexpr (kRows) {
    const int64_t n = walk.row();
    const int64_t direct_step = walk.direct_stride[0], indexed_step = walk.indexed_stride[0];
    for (int64_t row = team.block(); row < positions; row += team.blocks()) {
      const int64_t direct = walk.direct_offset(row, 1);
      const int64_t indexed = walk.indexed_offset(row, 1);
      team.for_each(n, [&](int64_t i) { f(direct + i * direct_step, indexed + i * indexed_step); });
    }
  } else {
    for (int64_t begin = team.block() * kPositionsPerBlock; begin < positions;
         begin += team.blocks() * kPositionsPerBlock) {
      const int64_t rest = positions - begin;
      team.for_each(rest < kPositionsPerBlock ? rest : kPositionsPerBlock, [&](int64_t i) {
        f(walk.direct_offset(begin + i, 0), walk.indexed_offset(begin + i, 0));
      });
    }
  }
}

}  // namespace anvil::kernels
