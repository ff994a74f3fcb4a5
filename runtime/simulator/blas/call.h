// What every entry point begins with, and how it says no.
#pragma once

#include <cublas_api.h>

#include "runtime/simulator/blas/counter.h"

#define ANVIL_BLAS_EXPORT extern "C" __attribute__((visibility("default")))

namespace anvil::simulator::blas {

// One line on stderr that names the call.
__attribute__((format(printf, 2, 3))) void report(const Call& call, const char* format, ...);

// Says what is not computed, and returns CUBLAS_STATUS_NOT_SUPPORTED.
cublasStatus_t refuse(const Call& call, const char* what);

// First line of every entry point: counts, and names the call for the rest.
#define ANVIL_BLAS_CALL                                                \
  static constinit ::anvil::simulator::blas::Call call{__func__, {0}}; \
  ::anvil::simulator::blas::count(call)

}  // namespace anvil::simulator::blas
