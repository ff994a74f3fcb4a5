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

// Complete or absent: loading throws on the first missing name.
struct CublasLt {
#define ANVIL_MEMBER(name) decltype(&::name) name;
  ANVIL_FOR_EACH_CUBLASLT_FUNCTION(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

inline const CublasLt& cublaslt() {
  static const CublasLt table = [] {
    const bool cuda = runtime::driver() == runtime::Driver::kCuda;
    const char* file = cuda ? "libcublasLt.so.13" : "libanvil_simulator_blas.so";
    void* library = cuda ? open_library(file, "nvidia-cublas")
                         : open_library(path_beside(file).c_str(), "torch_anvil");
    CublasLt result{};
#define ANVIL_FIND(name) \
  result.name = reinterpret_cast<decltype(result.name)>(find_symbol(library, file, #name));
    ANVIL_FOR_EACH_CUBLASLT_FUNCTION(ANVIL_FIND)
#undef ANVIL_FIND
    return result;
  }();
  return table;
}

inline void check_cublas(cublasStatus_t status, const char* call) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS,
              "cuBLASLt: ", cublaslt().cublasLtGetStatusString(status), " (in ", call, ")");
}

}  // namespace anvil::library

// ANVIL_CUBLAS_CHECK(cublasLtCreate, &handle);
#define ANVIL_CUBLAS_CHECK(function, ...) \
  ::anvil::library::check_cublas(::anvil::library::cublaslt().function(__VA_ARGS__), #function)
