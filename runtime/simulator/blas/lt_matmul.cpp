// cublasLtMatmul and the search for its algorithm.
#include <cstring>
#include <new>

#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/handle.h"
#include "runtime/simulator/blas/lt_algorithm.h"
#include "runtime/simulator/blas/lt_problem.h"
#include "runtime/simulator/blas/work.h"

// Any thread may use it: nothing changes after it is made.
struct cublasLtContext {
  static constexpr uint64_t kAlive = 0x616e76696c6c7421;
  uint64_t alive = kAlive;
};

namespace anvil::simulator::blas {
namespace {

// A cublasHandle_t may stand in place of a cublasLtHandle_t.
bool is_valid(const cublasLtContext* handle) {
  return handle != nullptr && (handle->alive == cublasLtContext::kAlive ||
                               blas::is_valid(reinterpret_cast<const cublasContext*>(handle)));
}

bool is_aligned(const void* pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// No algorithm reads elements that lie across their own size.
bool has_alignment_of_elements(const Product& product, const MatmulPreference& preference) {
  const cudaDataType types[] = {product.a.type, product.b.type, product.c.type, product.d.type};
  for (int i = 0; i < 4; ++i) {
    // Complex numbers are pairs.
    const int64_t bytes = size_of(types[i]) / (is_complex(types[i]) ? 2 : 1);
    if (preference.min_alignment[i] < bytes) {
      return false;
    }
  }
  return true;
}

// alpha and beta as the descriptor's pointer mode says where they are.
cublasStatus_t read_scales(const Call& call,
                           const MatmulDesc& operation,
                           const void* alpha,
                           const void* beta,
                           Product* product) {
  const auto on_device = [&](const void* value, int64_t row_stride, int64_t batch_stride) {
    Scale scale;
    scale.type = product->computation.scale;
    scale.device = static_cast<const char*>(kernel_address_of(call, value));
    scale.row_stride = row_stride;
    scale.batch_stride = batch_stride;
    return scale;
  };
  const int32_t mode = operation.pointer_mode;
  const bool beta_is_zero = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  if (alpha == nullptr || (beta == nullptr && !beta_is_zero)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  switch (mode) {
    case CUBLASLT_POINTER_MODE_HOST:
      product->alpha = host_scale(alpha, product->computation.scale);
      product->beta = host_scale(beta, product->computation.scale);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_POINTER_MODE_DEVICE:
      product->alpha = on_device(alpha, 0, operation.alpha_batch_stride);
      product->beta = on_device(beta, 0, operation.beta_batch_stride);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
      product->alpha = on_device(alpha, 1, 0);
      product->beta = on_device(beta, 1, 0);
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
      product->alpha = on_device(alpha, 1, 0);
      return operation.alpha_vector_batch_stride == 0 ? CUBLAS_STATUS_SUCCESS
                                                      : CUBLAS_STATUS_INVALID_VALUE;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
      product->alpha = on_device(alpha, 1, operation.alpha_vector_batch_stride);
      product->beta = host_scale(beta, product->computation.scale);
      return CUBLAS_STATUS_SUCCESS;
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

}  // namespace

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  ANVIL_BLAS_CALL;
  if (handle == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  int device = 0;
  if (simulator().cudaGetDevice(&device) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  *handle = new (std::nothrow) cublasLtContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  ANVIL_BLAS_CALL;
  if (handle == nullptr || handle->alive != cublasLtContext::kAlive) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  handle->alive = 0;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT size_t cublasLtGetVersion() {
  ANVIL_BLAS_CALL;
  return CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH;
}

ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                               cublasLtMatmulDesc_t operation,
                               cublasLtMatrixLayout_t a,
                               cublasLtMatrixLayout_t b,
                               cublasLtMatrixLayout_t c,
                               cublasLtMatrixLayout_t d,
                               cublasLtMatmulPreference_t preference,
                               int requested,
                               cublasLtMatmulHeuristicResult_t results[],
                               int* returned) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (requested <= 0 || results == nullptr || returned == nullptr || preference == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *returned = 0;
  Product product;
  if (const cublasStatus_t status = describe(call, content(operation), content(a), content(b),
                                             content(c), content(d), &product)) {
    return status;
  }
  if (!has_alignment_of_elements(product, *content(preference))) {
    return refuse(call, "an alignment below the elements' size");
  }
  const Algorithm algorithm = algorithm_for(*content(preference));
  std::memset(&results[0], 0, sizeof(results[0]));
  std::memcpy(&results[0].algo, &algorithm, sizeof(algorithm));
  results[0].workspaceSize = algorithm.workspace_bytes;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle,
                                                         cublasLtMatmulDesc_t operation,
                                                         cublasLtMatrixLayout_t a,
                                                         cublasLtMatrixLayout_t b,
                                                         cublasLtMatrixLayout_t c,
                                                         cublasLtMatrixLayout_t d,
                                                         const cublasLtMatmulAlgo_t* algo,
                                                         cublasLtMatmulHeuristicResult_t* result) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const auto* algorithm = reinterpret_cast<const Algorithm*>(algo);
  if (algorithm == nullptr || result == nullptr || algorithm->known != Algorithm::kKnown) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Product product;
  if (const cublasStatus_t status = describe(call, content(operation), content(a), content(b),
                                             content(c), content(d), &product)) {
    return status;
  }
  result->workspaceSize = algorithm->workspace_bytes;
  result->state = CUBLAS_STATUS_SUCCESS;
  result->wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle,
                                                cublasLtMatmulDesc_t descriptor,
                                                const void* alpha,
                                                const void* a,
                                                cublasLtMatrixLayout_t a_layout,
                                                const void* b,
                                                cublasLtMatrixLayout_t b_layout,
                                                const void* beta,
                                                const void* c,
                                                cublasLtMatrixLayout_t c_layout,
                                                void* d,
                                                cublasLtMatrixLayout_t d_layout,
                                                const cublasLtMatmulAlgo_t* algo,
                                                void* workspace,
                                                size_t workspace_bytes,
                                                cudaStream_t stream) {
  ANVIL_BLAS_CALL;
  if (!is_valid(handle)) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  Product product;
  if (const cublasStatus_t status =
          describe(call, content(descriptor), content(a_layout), content(b_layout),
                   content(c_layout), content(d_layout), &product)) {
    return status;
  }
  const MatmulDesc& operation = *content(descriptor);
  if (const cublasStatus_t status = read_scales(call, operation, alpha, beta, &product)) {
    return status;
  }
  const bool reads_c =
      product.beta.device != nullptr || product.beta.re != 0 || product.beta.im != 0;
  if (a == nullptr || b == nullptr || d == nullptr || (reads_c && c == nullptr) ||
      (has_bias(operation) && operation.bias_pointer == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }

  Algorithm algorithm;
  if (algo != nullptr) {
    algorithm = *reinterpret_cast<const Algorithm*>(algo);
  }
  if (algorithm.known != Algorithm::kKnown || workspace_bytes < algorithm.workspace_bytes ||
      (workspace_bytes > 0 && !is_aligned(workspace, 256))) {
    report(call, "the algorithm was not initialised, or lacks its workspace (%u bytes, aligned)",
           algorithm.workspace_bytes);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const void* operands[] = {a, b, reads_c ? c : d, d};
  for (int i = 0; i < 4; ++i) {
    if (!is_aligned(operands[i], algorithm.alignment[i])) {
      report(call, "%c is not aligned as the search for the algorithm was told", "ABCD"[i]);
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }

  product.a.data = static_cast<char*>(kernel_address_of(call, a));
  product.b.data = static_cast<char*>(kernel_address_of(call, b));
  product.c.data = static_cast<char*>(kernel_address_of(call, c));
  product.d.data = static_cast<char*>(kernel_address_of(call, d));
  if (has_bias(operation)) {
    product.bias = static_cast<const char*>(kernel_address_of(call, operation.bias_pointer));
  }
  if (algorithm.workspace_bytes > 0) {
    product.workspace = static_cast<char*>(kernel_address_of(call, workspace));
    product.workspace_bytes = algorithm.workspace_bytes;
  }
  return enqueue(call, product, stream);
}

}  // namespace anvil::simulator::blas
