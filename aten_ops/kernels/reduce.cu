// The table of reductions.
#include "aten_ops/kernels/reduce.h"

#include "aten_ops/kernels/reduce_launchers.h"
#include "aten_ops/kernels/reduce_plan.h"

namespace anvil::kernels {
namespace {

size_t reduce_scratch_bytes(const Reduction& r) { return scratch_bytes(plan_reduction(r)); }

}  // namespace

const ReduceKernels reduce_kernels{
    .scratch_bytes = reduce_scratch_bytes,
    .sum = reduce_sum,
    .mean = reduce_mean,
    .nansum = reduce_nansum,
    .prod = reduce_prod,
    .any = reduce_any,
    .all = reduce_all,
    .max = reduce_max,
    .min = reduce_min,
    .max_with_index = reduce_max_with_index,
    .min_with_index = reduce_min_with_index,
    .norm = reduce_norm,
    .variance = reduce_variance,
};

}  // namespace anvil::kernels
