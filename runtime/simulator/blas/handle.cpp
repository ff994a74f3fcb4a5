// Handles and their settings.
#include "runtime/simulator/blas/handle.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/work.h"

namespace anvil::simulator::blas {
namespace {

// The version of the headers that this was built with.
constexpr int kVersion = CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH;

// As much of a workspace as a product of a GPU is sure to use.
constexpr size_t kUsedWorkspace = 4096;

template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::* member, T value) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->*member = value;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t get(cublasHandle_t handle, T cublasContext::* member, T* value) {
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (value == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *value = handle->*member;
  return CUBLAS_STATUS_SUCCESS;
}

const char* status_name(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unknown cuBLAS status";
}

}  // namespace

bool is_valid(const cublasContext* handle) {
  return handle != nullptr && handle->alive == cublasContext::kAlive;
}

Scale host_scale(const void* value, cudaDataType type) {
  Scale scale;
  scale.type = type;
  const char* memory = static_cast<const char*>(value);
  if (is_complex(type)) {
    Complex<double> parts;
    if (type == CUDA_C_32F) {
      Complex<float> single;
      std::memcpy(&single, memory, sizeof(single));
      parts = {single.re, single.im};
    } else {
      std::memcpy(&parts, memory, sizeof(parts));
    }
    scale.re = parts.re;
    scale.im = parts.im;
  } else {
    access<double>(type).load(memory, 1, 1, &scale.re, 1);
  }
  return scale;
}

Scale scale_of(const Call& call,
               const cublasContext& handle,
               const void* value,
               cudaDataType type) {
  if (handle.pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    return host_scale(value, type);
  }
  Scale scale;
  scale.type = type;
  scale.device = static_cast<const char*>(kernel_address_of(call, value));
  return scale;
}

void lend_workspace(const Call& call, const cublasContext& handle, Product& product) {
  if (handle.workspace != nullptr) {
    product.workspace = static_cast<char*>(kernel_address_of(call, handle.workspace));
    product.workspace_bytes = std::min(handle.workspace_bytes, kUsedWorkspace);
  }
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  ANVIL_BLAS_CALL;
  if (handle == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  int device = 0;
  if (simulator().cudaGetDevice(&device) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  *handle = new (std::nothrow) cublasContext;
  if (*handle == nullptr) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  (*handle)->device = device;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->alive = 0;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->stream = stream;
  // Back to the library's own, which the stand-in does not need.
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  ANVIL_BLAS_CALL;
  return get(handle, &cublasContext::stream, stream);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle,
                                                       void* workspace,
                                                       size_t bytes) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->workspace = bytes == 0 ? nullptr : workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle,
                                                         cublasPointerMode_t mode) {
  ANVIL_BLAS_CALL;
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return set(handle, &cublasContext::pointer_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle,
                                                         cublasPointerMode_t* mode) {
  ANVIL_BLAS_CALL;
  return get(handle, &cublasContext::pointer_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  ANVIL_BLAS_CALL;
  return set(handle, &cublasContext::math_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  ANVIL_BLAS_CALL;
  return get(handle, &cublasContext::math_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle,
                                                      cublasAtomicsMode_t mode) {
  ANVIL_BLAS_CALL;
  return set(handle, &cublasContext::atomics_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle,
                                                      cublasAtomicsMode_t* mode) {
  ANVIL_BLAS_CALL;
  return get(handle, &cublasContext::atomics_mode, mode);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  ANVIL_BLAS_CALL;
  if (count < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return set(handle, &cublasContext::multiprocessor_target, count);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  ANVIL_BLAS_CALL;
  return get(handle, &cublasContext::multiprocessor_target, count);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
  ANVIL_BLAS_CALL;
  if (version == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *version = kVersion;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT const char* cublasGetStatusName(cublasStatus_t status) {
  ANVIL_BLAS_CALL;
  return status_name(status);
}
ANVIL_BLAS_EXPORT const char* cublasGetStatusString(cublasStatus_t status) {
  ANVIL_BLAS_CALL;
  return status_name(status);
}
ANVIL_BLAS_EXPORT const char* cublasLtGetStatusName(cublasStatus_t status) {
  ANVIL_BLAS_CALL;
  return status_name(status);
}
ANVIL_BLAS_EXPORT const char* cublasLtGetStatusString(cublasStatus_t status) {
  ANVIL_BLAS_CALL;
  return status_name(status);
}

}  // namespace anvil::simulator::blas
