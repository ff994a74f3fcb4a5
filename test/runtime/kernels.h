// The kernels that the tests launch, by the handles that cudaLaunchKernel takes.
// kernels_host.cpp has them for the simulator, kernels_cuda.cpp for a GPU.
#pragma once

namespace anvil::runtime::testing {

// (float* data, int n, float value): adds `value` to each element. `data` is
// what kernel_pointer() gave.
const void* add_kernel();

// No arguments; fails, as a trap does on CUDA.
const void* failing_kernel();

// (float* data): writes far outside of any allocation.
const void* wild_kernel();

// The simulator's only: sleeps a millisecond. No arguments.
const void* slow_kernel();

// A device pointer as the kernels above take it.
float* kernel_pointer(float* device_pointer);

}  // namespace anvil::runtime::testing
