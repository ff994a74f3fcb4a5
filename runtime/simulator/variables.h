// __device__ and __constant__ variables, by the address of their host shadow.
#pragma once

#include <cstddef>

namespace anvil::simulator {

// Before any call; a second registration of a variable changes nothing.
void add_variable(const void* host_variable, const char* name, size_t bytes);

}  // namespace anvil::simulator
