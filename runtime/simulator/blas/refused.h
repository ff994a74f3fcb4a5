// A function that the stand-in refuses.
#pragma once

#include "runtime/simulator/blas/counter.h"

namespace anvil::simulator::blas {

// Counts, says on stderr that the function is not supported, and returns
// CUBLAS_STATUS_NOT_SUPPORTED.
int refuse_function(Call& call);

}  // namespace anvil::simulator::blas
