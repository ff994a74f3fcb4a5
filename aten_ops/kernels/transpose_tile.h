// One tile of a transposing copy, for each executor:
//   out[c + r * out_stride] = in[r + c * in_stride]  for r < rows, c < columns
// with rows and columns up to kTransposeTile. Strides in elements.
//   transpose_tile(team, in, in_stride, out, out_stride, rows, columns)
// All threads of the block call it; a barrier on the device.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

inline constexpr int64_t kTransposeTile = 32;

}  // namespace anvil::kernels

#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
#include "aten_ops/kernels/transpose_tile_cuda.h"
#else
#include "aten_ops/kernels/transpose_tile_host.h"
#endif
