// The kernel library of this process.
#pragma once

#include "aten_ops/kernels/table.h"

namespace anvil::kernels {

// The kernels that fit the driver: libanvil_kernels_cuda.so on CUDA,
// libanvil_kernels_host.so on the simulator, from the folder of this library.
// Loaded by the first call, from any thread, and kept until the process ends.
// Throws c10::Error if the library is missing, does not load, or was built from
// other sources.
const Table& table();

}  // namespace anvil::kernels
