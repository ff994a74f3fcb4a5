// Through shared memory, so that loads and stores are both coalesced.
#pragma once

#include "aten_ops/kernels/transpose_tile.h"

namespace anvil::kernels {

// Bytes of LaunchConfig::shared_bytes that a tile of T takes.
template <class T>
inline constexpr size_t kTransposeSharedBytes =
    (kTransposeTile * (kTransposeTile + 1) * sizeof(T) + 15) / 16 * 16;

template <class Team, class T>
ANVIL_DEVICE void transpose_tile(Team& team,
                                 const T* in,
                                 int64_t in_stride,
                                 T* out,
                                 int64_t out_stride,
                                 int64_t rows,
                                 int64_t columns) {
  // A row more than needed keeps the columns in different banks.
  constexpr int64_t kPitch = kTransposeTile + 1;
  T* tile = team.template shared<T>(kTransposeTile * kPitch);
  team.for_each(kTransposeTile * kTransposeTile, [&](int64_t i) {
    const int64_t r = i % kTransposeTile;
    const int64_t c = i / kTransposeTile;
    if (r < rows && c < columns) {
      tile[c * kPitch + r] = in[r + c * in_stride];
    }
  });
  team.sync();
  team.for_each(kTransposeTile * kTransposeTile, [&](int64_t i) {
    const int64_t c = i % kTransposeTile;
    const int64_t r = i / kTransposeTile;
    if (r < rows && c < columns) {
      out[c + r * out_stride] = tile[c * kPitch + r];
    }
  });
}

}  // namespace anvil::kernels
