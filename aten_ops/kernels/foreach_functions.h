// The functions that foreach.cu launches, defined in the files of their concept.
#pragma once

#include "aten_ops/kernels/foreach.h"

namespace anvil::kernels {

void foreach_elementwise(const ForeachProblem& problem, cudaStream_t stream);
void fused_adam(const FusedAdamProblem& problem, cudaStream_t stream);
void fused_sgd(const FusedSgdProblem& problem, cudaStream_t stream);
void amp_unscale(const AmpUnscaleProblem& problem, cudaStream_t stream);
void amp_update_scale(const AmpUpdateScaleProblem& problem, cudaStream_t stream);

}  // namespace anvil::kernels
