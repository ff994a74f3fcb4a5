// The state of a cuBLAS handle.
#pragma once

#include <cublas_api.h>

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/blas/call.h"
#include "runtime/simulator/blas/product.h"

// Not thread-safe, as cuBLAS's handle is not: it belongs to one thread at a time.
struct cublasContext {
  static constexpr uint64_t kAlive = 0x616e76696c626c73;
  // What tells a handle of ours from any other pointer. First, as in a handle of
  // cuBLASLt.
  uint64_t alive = kAlive;
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessor_target = 0;
  void* workspace = nullptr;  // the caller's, a device address
  size_t workspace_bytes = 0;
};

namespace anvil::simulator::blas {

// False for null, a destroyed handle, and one that another library made.
bool is_valid(const cublasContext* handle);

// A scale factor of a call: read now, or by the device, as the handle's pointer
// mode says.
Scale scale_of(const Call& call, const cublasContext& handle, const void* value, cudaDataType type);

// A scale factor from host memory.
Scale host_scale(const void* value, cudaDataType type);

// Lends the handle's workspace to a product.
void lend_workspace(const Call& call, const cublasContext& handle, Product& product);

}  // namespace anvil::simulator::blas
