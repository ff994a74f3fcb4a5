// How a reduction is spread over blocks. Host code, a pure function of the
// shape, so that results do not depend on the executor or on timing.
//
// Three layouts:
//   kTeam     a block reduces one output (or one of its `parts`)
//   kColumns  a block reduces a tile of neighbouring outputs over rows: the
//             kept dimension is contiguous, the reduced one is not
//   kThread   a thread reduces one output: few elements for each
// Where one output (or tile) has several parts, each part leaves a partial
// result in scratch memory and the last block to arrive combines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/reduce.h"

namespace anvil::kernels {

enum class ReduceLayout { kTeam, kColumns, kThread };

struct ReducePlan {
  ReduceLayout layout;
  int64_t outputs = 1;      // results
  int64_t count = 1;        // elements per result
  int64_t inner = 1;        // size of the fastest reduced dimension
  int64_t outer = 1;        // count / inner
  int64_t units = 1;        // outputs (kTeam, kThread) or tiles (kColumns)
  int64_t tile = 1;         // outputs per tile (kColumns)
  int64_t tiles = 1;        // tiles per position of the other kept dimensions
  int64_t outer_parts = 1;  // parts = outer_parts * inner_parts
  int64_t inner_parts = 1;
  int threads = 32;

  ANVIL_DEVICE int64_t parts() const { return outer_parts * inner_parts; }
  size_t counter_bytes() const {
    return parts() > 1 ? (static_cast<size_t>(units) * sizeof(unsigned) + 15) / 16 * 16 : 0;
  }
};

inline constexpr int64_t kMaxAccumulatorBytes = 32;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int block_threads(int64_t elements, int least = 32, int most = 256) {
  int threads = least;
  while (threads < most && threads < elements) {
    threads *= 2;
  }
  return threads;
}

inline ReducePlan plan_reduction(const Reduction& r) {
  // Enough blocks for two waves of a large GPU; a part must be worth a block.
  constexpr int64_t kTargetBlocks = 512;
  constexpr int64_t kElementsPerPart = 4096;
  constexpr int64_t kRowsPerPart = 64;
  constexpr int64_t kColumnTile = 256;

  ReducePlan plan{};
  plan.outputs = r.kept.numel();
  plan.count = r.reduced.numel();
  plan.inner = r.reduced.count > 0 ? r.reduced.size[0] : 1;
  plan.outer = plan.count / plan.inner;
  plan.units = plan.outputs;
  const bool columns = r.kept.count > 0 && r.kept.size[0] >= 16 && r.kept.stride[0][0] == 1 &&
                       r.reduced.count > 0 && r.reduced.stride[0][0] != 1;
  if (columns) {
    plan.layout = ReduceLayout::kColumns;
    plan.tile = std::min(r.kept.size[0], kColumnTile);
    plan.tiles = ceil_div(r.kept.size[0], plan.tile);
    plan.units = plan.outputs / r.kept.size[0] * plan.tiles;
    const int64_t wanted = ceil_div(kTargetBlocks, plan.units);
    plan.outer_parts = std::clamp<int64_t>(wanted, 1, ceil_div(plan.count, kRowsPerPart));
    plan.threads = block_threads(plan.tile);
  } else if (plan.count <= 16) {
    plan.layout = ReduceLayout::kThread;
    plan.threads = 128;
  } else {
    plan.layout = ReduceLayout::kTeam;
    const int64_t wanted = std::clamp<int64_t>(ceil_div(kTargetBlocks, plan.outputs), 1,
                                               ceil_div(plan.count, kElementsPerPart));
    plan.outer_parts = std::min(wanted, plan.outer);
    plan.inner_parts = std::clamp<int64_t>(wanted / plan.outer_parts, 1, plan.inner);
    plan.threads = block_threads(plan.count / plan.parts() / 4);
  }
  return plan;
}

inline size_t scratch_bytes(const ReducePlan& plan) {
  if (plan.parts() == 1) {
    return 0;
  }
  return plan.counter_bytes() +
         static_cast<size_t>(plan.units * plan.tile * plan.parts() * kMaxAccumulatorBytes);
}

}  // namespace anvil::kernels
