// The cuBLASLt functions that Anvil calls, from libcublasLt.so.13; on the
// simulator from its stand-in, which has the same names.
#pragma once

#include <cublasLt.h>

#include "aten_ops/library/dynamic_library.h"
#include "runtime/table.h"

#define ANVIL_FOR_EACH_CUBLASLT_FUNCTION(X) \
  X(cublasLtCreate)                         \
  X(cublasLtGetStatusString)                \
  X(cublasLtMatmulDescCreate)               \
  X(cublasLtMatmulDescDestroy)              \
  X(cublasLtMatmulDescSetAttribute)         \
  X(cublasLtMatrixLayoutCreate)             \
  X(cublasLtMatrixLayoutDestroy)            \
  X(cublasLtMatrixLayoutSetAttribute)       \
  X(cublasLtMatmulPreferenceCreate)         \
  X(cublasLtMatmulPreferenceDestroy)        \
  X(cublasLtMatmulPreferenceSetAttribute)   \
  X(cublasLtMatmulAlgoGetHeuristic)         \
  X(cublasLtMatmul)

namespace anvil::library {

inline Library open_cublaslt() {
  return runtime::driver() == runtime::Driver::kCuda
             ? open_library("libcublasLt.so.13", "nvidia-cublas")
             : open_library(path_beside("libanvil_simulator_blas.so"), "torch_anvil");
}

ANVIL_LIBRARY_TABLE(CublasLt, cublaslt, ANVIL_FOR_EACH_CUBLASLT_FUNCTION, open_cublaslt())

inline void check_cublas(cublasStatus_t status, const char* call) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS,
              "cuBLASLt: ", cublaslt().cublasLtGetStatusString(status), " (in ", call, ")");
}

}  // namespace anvil::library

// ANVIL_CUBLAS_CHECK(cublasLtCreate, &handle);
#define ANVIL_CUBLAS_CHECK(function, ...) \
  ::anvil::library::check_cublas(::anvil::library::cublaslt().function(__VA_ARGS__), #function)
