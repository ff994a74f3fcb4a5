// The executors of one kernel source: nvcc, g++ for the simulator, and g++ with
// ANVIL_SIMT_CHECKER for the checker of the tests.
//
// ANVIL_DEVICE marks what kernels call and what is also valid on the host;
// ANVIL_SIMT what needs the SIMT machine (threadIdx, shuffles, barriers).
#pragma once

// ANVIL_UNROLL stands before a loop with a small constant number of turns.
#if defined(__CUDACC__)
#define ANVIL_DEVICE __host__ __device__ __forceinline__
#define ANVIL_SIMT __device__ __forceinline__
#define ANVIL_RESTRICT __restrict__
#define ANVIL_UNROLL _Pragma("unroll")
#else
#define ANVIL_DEVICE inline __attribute__((always_inline))
#define ANVIL_SIMT inline
#define ANVIL_RESTRICT __restrict__
#define ANVIL_UNROLL _Pragma("GCC unroll 16")
#endif
