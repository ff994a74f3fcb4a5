// How the layer above turns failed CUDA calls into its own kind of exception.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/export.h"

namespace anvil::runtime {

// Throws for a failed call; `call` is what check() was given.
using ErrorThrower = void (*)(cudaError_t code, const char* call);

// check() calls `thrower`, where one is set, instead of throwing Error. Set
// once, when the library of the layer above is loaded; nullptr sets none. A
// thrower that returns leaves it to check() to throw.
ANVIL_RUNTIME_API void set_error_thrower(ErrorThrower thrower) noexcept;

}  // namespace anvil::runtime
