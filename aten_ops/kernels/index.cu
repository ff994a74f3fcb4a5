#include "aten_ops/kernels/index.h"

#include <cstring>

#include "aten_ops/kernels/element_word.h"
#include "aten_ops/kernels/index_reduce.h"
#include "aten_ops/kernels/index_walk.h"

namespace anvil::kernels {

template <class T>
struct Gather {
  static constexpr int kMaxThreads = kIndexThreads;
  DeviceIndexWalk walk;
  int64_t positions;
  bool rows;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    char* ANVIL_RESTRICT direct = walk.direct;
    const char* ANVIL_RESTRICT indexed = walk.indexed;
    const auto copy = [=](int64_t to, int64_t from) {
      *reinterpret_cast<T*>(direct + to) = *reinterpret_cast<const T*>(indexed + from);
    };
    if (!rows) {
      walk_positions<false>(team, walk, positions, copy);
    } else if (walk.direct_stride[0] == sizeof(T) && walk.indexed_stride[0] == sizeof(T)) {
      // Both rows are contiguous: a loop that the compiler can see through.
      for (int64_t row = team.block(); row < positions; row += team.blocks()) {
        T* ANVIL_RESTRICT to = reinterpret_cast<T*>(direct + walk.direct_offset(row, 1));
        const T* ANVIL_RESTRICT from =
            reinterpret_cast<const T*>(indexed + walk.indexed_offset(row, 1));
        team.for_each(walk.row(), [=](int64_t i) { to[i] = from[i]; });
      }
    } else {
      walk_positions<true>(team, walk, positions, copy);
    }
  }
};

template <class T>
struct Scatter {
  static constexpr int kMaxThreads = kIndexThreads;
  DeviceIndexWalk walk;
  int64_t positions;
  bool rows;
  bool immediate;
  T value;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const char* ANVIL_RESTRICT direct = walk.direct;
    char* ANVIL_RESTRICT indexed = walk.indexed;
    const bool is_value = immediate;
    const T v = value;
    const auto copy = [=](int64_t from, int64_t to) {
      *reinterpret_cast<T*>(indexed + to) =
          is_value ? v : *reinterpret_cast<const T*>(direct + from);
    };
    if (rows) {
      walk_positions<true>(team, walk, positions, copy);
    } else {
      walk_positions<false>(team, walk, positions, copy);
    }
  }
};

// A walk over elements of 16 bytes in place of smaller ones, if rows are long,
// contiguous and aligned; else false.
bool widen(IndexWalk& walk, int element_bytes) {
  if (walk.ndim == 0 || walk.direct_is_immediate || walk.direct_stride[0] != element_bytes ||
      walk.indexed_stride[0] != element_bytes || walk.size[0] * element_bytes % 16 != 0) {
    return false;
  }
  auto bits = reinterpret_cast<uintptr_t>(walk.direct) | reinterpret_cast<uintptr_t>(walk.indexed);
  for (int d = 1; d < walk.ndim; ++d) {
    bits |= static_cast<uintptr_t>(walk.direct_stride[d] | walk.indexed_stride[d]);
  }
  for (int k = 0; k < walk.nindices; ++k) {
    if (walk.index_stride[k][0] != 0) {
      return false;
    }
    bits |= static_cast<uintptr_t>(walk.step[k]);
  }
  if (bits % 16 != 0) {
    return false;
  }
  walk.size[0] = walk.size[0] * element_bytes / 16;
  walk.direct_stride[0] = walk.indexed_stride[0] = 16;
  return true;
}

void gather(const IndexWalk& walk, int element_bytes, cudaStream_t stream) {
  IndexWalk widened = walk;
  // The host's compiler makes vectors of a row's loop by itself.
  const int bytes = !kHostExecutor && widen(widened, element_bytes) ? 16 : element_bytes;
  const DeviceIndexWalk device(widened);
  const bool rows = device.takes_rows();
  dispatch_bytes(bytes, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<Gather<T>>("gather", index_config(device), stream,
                      {device, device.positions(rows), rows});
  });
}

void scatter(const IndexWalk& walk, int element_bytes, cudaStream_t stream) {
  const DeviceIndexWalk device(walk);
  const bool rows = device.takes_rows();
  dispatch_bytes(element_bytes, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if (walk.direct_is_immediate) {
      std::memcpy(&value, walk.immediate, sizeof(T));
    }
    launch<Scatter<T>>("scatter", index_config(device), stream,
                       {device, device.positions(rows), rows, walk.direct_is_immediate, value});
  });
}

const IndexKernels index_kernels{
    .gather = gather,
    .scatter = scatter,
    .scatter_reduce = scatter_reduce,
    .row_offsets = row_offsets,
    .scatter_in_order = scatter_in_order,
};

}  // namespace anvil::kernels
