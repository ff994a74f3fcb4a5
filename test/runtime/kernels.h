// The kernels that the tests launch, by the handles that cudaLaunchKernel takes.
// kernels_host.cpp has them for the simulator.
#pragma once

namespace anvil::runtime::testing {

// False if this build has no kernels for the driver in use; the tests that
// launch are then skipped, with that reason.
bool have_kernels();

// (float* data, int n, float value): adds `value` to each element. `data` is
// what kernel_pointer() gave.
const void* add_kernel();

// No arguments; fails, as a trap does on CUDA.
const void* failing_kernel();

// (float* data): writes far outside of any allocation.
const void* wild_kernel();

// A device pointer as the kernels above take it.
float* kernel_pointer(float* device_pointer);

#define ANVIL_REQUIRE_KERNELS()                                                       \
  if (!::anvil::runtime::testing::have_kernels()) {                                   \
    GTEST_SKIP() << "this build has no kernels for the CUDA driver (they need nvcc)"; \
  }

}  // namespace anvil::runtime::testing
