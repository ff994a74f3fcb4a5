// A launch, however it was asked for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace anvil::simulator {

struct Kernel;
struct Stream;

// Checks the configuration, copies the arguments and enqueues.
cudaError_t launch(const Kernel& kernel,
                   dim3 grid,
                   dim3 block,
                   void** arguments,
                   size_t shared_bytes,
                   Stream& stream,
                   int current_device);

}  // namespace anvil::simulator
