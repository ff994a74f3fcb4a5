// The functions that foreach.cu launches, defined in the files of their concept.
#pragma once

#include "aten_ops/kernels/foreach.h"
#include "runtime/error.h"

namespace anvil::kernels {

void foreach_elementwise(const ForeachProblem& problem, cudaStream_t stream);
void fused_adam(const FusedAdamProblem& problem, cudaStream_t stream);
void fused_sgd(const FusedSgdProblem& problem, cudaStream_t stream);
void amp_unscale(const AmpUnscaleProblem& problem, cudaStream_t stream);
void amp_update_scale(const AmpUpdateScaleProblem& problem, cudaStream_t stream);

// Calls function.template operator()<T>() with the floating type `dtype`.
template <class F>
void dispatch_floating(ScalarType dtype, const char* name, F function) {
  switch (dtype) {
    case ScalarType::Float:
      return function.template operator()<float>();
    case ScalarType::Double:
      return function.template operator()<double>();
    case ScalarType::Half:
      return function.template operator()<Half>();
    case ScalarType::BFloat16:
      return function.template operator()<BFloat16>();
    default:
      throw runtime::Error(std::string(name) + " has no kernel for " + scalar_type_name(dtype));
  }
}

}  // namespace anvil::kernels
