// The tests' kernels for a real GPU, as PTX that its driver compiles: so the
// tests need no nvcc.
#pragma once

namespace anvil::runtime::testing {

// The kernel "add", "fail" or "wild" of kernels.h, as cudaLaunchKernel takes it.
// Null, with a failed expectation, if the driver does not compile the PTX.
const void* cuda_kernel(const char* name);

}  // namespace anvil::runtime::testing
