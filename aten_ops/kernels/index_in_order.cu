#include "aten_ops/kernels/element_ops.h"
#include "aten_ops/kernels/element_word.h"
#include "aten_ops/kernels/index_reduce.h"
#include "aten_ops/kernels/index_walk.h"
#include "aten_ops/kernels/type_lists.h"

namespace anvil::kernels {

struct RowOffsets {
  static constexpr int kMaxThreads = kIndexThreads;
  DeviceIndexWalk walk;
  int64_t rows;
  int64_t skip;
  Pointer<int64_t> offsets;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t begin = team.block() * kPositionsPerBlock; begin < rows;
         begin += team.blocks() * kPositionsPerBlock) {
      const int64_t rest = rows - begin;
      team.for_each(rest < kPositionsPerBlock ? rest : kPositionsPerBlock, [&](int64_t i) {
        const int64_t row = begin + i;
        if (walk.nindices > 0 && skip >= 0) {
          const int64_t first = walk.index_at(0, walk.offset(walk.index_stride[0], row, 1));
          if (first == skip) {
            offsets[row] = -1;
            return;
          }
        }
        offsets[row] = walk.indexed_offset(row, 1);
      });
    }
  }
};

void row_offsets(const IndexWalk& walk, int64_t skip, int64_t* offsets, cudaStream_t stream) {
  const DeviceIndexWalk device(walk);
  const int64_t rows = device.positions(1);
  launch<RowOffsets>("row_offsets", {.blocks = blocks_for(rows, kPositionsPerBlock)}, stream,
                     {device, rows, skip, offsets});
}

// Rows are dealt to owners by their offset; an owner takes its rows one after
// another. An owner is a block whose threads share a row, or, where rows are
// short, a thread.
template <class T, bool kAdd, bool kThreadOwns>
struct ScatterInOrder {
  static constexpr int kMaxThreads = kIndexThreads;
  DeviceIndexWalk walk;
  int64_t rows;
  int owners;
  Pointer<const int64_t> offsets;

  ANVIL_DEVICE void take(int64_t i, int64_t row_direct, int64_t row_indexed) const {
    const T value =
        *reinterpret_cast<const T*>(walk.direct + row_direct + i * walk.direct_stride[0]);
    T* target = reinterpret_cast<T*>(walk.indexed + row_indexed + i * walk.indexed_stride[0]);
    if constexpr (kAdd) {
      *target = AddElements{}(*target, value);
    } else {
      *target = value;
    }
  }
  ANVIL_DEVICE bool owns(int owner, int64_t offset) const {
    // The high bits of a product with an odd constant (Fibonacci hashing).
    const uint64_t hash = static_cast<uint64_t>(offset) * 0x9E3779B97F4A7C15u;
    return static_cast<int>((hash >> 32) % static_cast<uint32_t>(owners)) == owner;
  }

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t n = walk.row();
    if constexpr (kThreadOwns) {
      team.for_each(kIndexThreads, [&](int64_t thread) {
        const int owner = static_cast<int>(team.block() * kIndexThreads + thread);
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t offset = offsets[row];
          if (offset >= 0 && owns(owner, offset)) {
            const int64_t direct = walk.direct_offset(row, 1);
            for (int64_t i = 0; i < n; ++i) {
              take(i, direct, offset);
            }
          }
        }
      });
    } else {
      const int owner = static_cast<int>(team.block());
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t offset = offsets[row];
        if (offset >= 0 && (owners == 1 || owns(owner, offset))) {
          const int64_t direct = walk.direct_offset(row, 1);
          // The same thread takes the same i of every row: no barrier.
          team.for_each(n, [&](int64_t i) { take(i, direct, offset); });
        }
      }
    }
  }
};

template <class T, bool kAdd>
void launch_in_order(const DeviceIndexWalk& walk, const int64_t* offsets, cudaStream_t stream) {
  const int64_t rows = walk.positions(1);
  constexpr int kOwnerBlocks = 256;
  if constexpr (kHostExecutor) {
    launch<ScatterInOrder<T, kAdd, false>>("scatter_in_order", {.blocks = 1}, stream,
                                           {walk, rows, 1, offsets});
  } else if (walk.row() >= 32) {
    launch<ScatterInOrder<T, kAdd, false>>(
        "scatter_in_order", {.blocks = kOwnerBlocks, .threads = walk.row() >= 128 ? 128 : 64},
        stream, {walk, rows, kOwnerBlocks, offsets});
  } else {
    const int blocks = static_cast<int>(blocks_for(rows, kIndexThreads, kOwnerBlocks));
    launch<ScatterInOrder<T, kAdd, true>>("scatter_in_order",
                                          {.blocks = blocks, .threads = kIndexThreads}, stream,
                                          {walk, rows, blocks * kIndexThreads, offsets});
  }
}

void scatter_in_order(const IndexWalk& walk,
                      ScalarType dtype,
                      bool add,
                      const int64_t* offsets,
                      cudaStream_t stream) {
  const DeviceIndexWalk device(walk);
  if (add) {
    dispatch(AllTypes{}, dtype, "scatter_in_order", [&](auto tag) {
      launch_in_order<typename decltype(tag)::type, true>(device, offsets, stream);
    });
    return;
  }
  dispatch_bytes(element_size(dtype), [&](auto tag) {
    launch_in_order<typename decltype(tag)::type, false>(device, offsets, stream);
  });
}

}  // namespace anvil::kernels
