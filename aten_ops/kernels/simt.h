// What team_cuda.h needs of the machine: thread coordinates, barrier, shuffles,
// shared memory, fences, atomics. CUDA's, or the checker's emulation.
#pragma once

#if defined(__CUDACC__)
#include "aten_ops/kernels/simt_cuda.h"
#else
#include "aten_ops/kernels/simt_checked.h"
#endif
