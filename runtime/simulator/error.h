// Errors by name.
#pragma once

#include <cuda_runtime_api.h>

namespace anvil::simulator {

// The code of "cudaErrorInvalidValue" and its kin. False if there is none.
bool find_error(const char* name, cudaError_t* code);

}  // namespace anvil::simulator
