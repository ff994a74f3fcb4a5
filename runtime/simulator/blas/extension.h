// What the BLAS stand-in exports beside cuBLAS and cuBLASLt.
//
// C linkage and plain types, as the simulator's own extension. Any thread.
#pragma once

#include <cstdint>

extern "C" {

// How often the process called `function` ("cublasLtMatmul", "cublasSgemm_v2"),
// refused calls included; 0 for a name that was never called.
uint64_t anvilBlasCalls(const char* function);

// Calls `visit(function, calls, context)` for each function called so far.
void anvilBlasForEachCall(void (*visit)(const char* function, uint64_t calls, void* context),
                          void* context);

// Every count back to 0.
void anvilBlasResetCalls(void);
}
