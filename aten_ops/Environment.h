// The environment variables of this layer, read together.
#pragma once

#include "backend/Macros.h"

namespace anvil {

// Throws ValueError, with the variable, its value and what is allowed, for the
// first of the operators' variables that has a value that is not. Called at the
// first use of the device, so that a mistyped value is not found in the middle
// of a run, or never.
ANVIL_API void check_environment();

}  // namespace anvil
