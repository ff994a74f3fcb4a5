// The functions behind reduce_kernels, one group for each file.
#pragma once

#include "aten_ops/kernels/reduce.h"

namespace anvil::kernels {

void reduce_sum(const Reduction&, cudaStream_t);
void reduce_mean(const Reduction&, cudaStream_t);
void reduce_nansum(const Reduction&, cudaStream_t);
void reduce_prod(const Reduction&, cudaStream_t);
void reduce_any(const Reduction&, cudaStream_t);
void reduce_all(const Reduction&, cudaStream_t);
void reduce_max(const Reduction&, cudaStream_t);
void reduce_min(const Reduction&, cudaStream_t);
void reduce_max_with_index(const Reduction&, cudaStream_t);
void reduce_min_with_index(const Reduction&, cudaStream_t);
void reduce_norm(const Reduction&, double p, cudaStream_t);
void reduce_variance(const Reduction&, double correction, bool square_root, cudaStream_t);

}  // namespace anvil::kernels
