// Algorithms that are made without a search.
#include "runtime/simulator/blas/lt_algorithm.h"

#include <cstring>

#include "runtime/simulator/blas/attributes.h"
#include "runtime/simulator/blas/call.h"
#include "runtime/simulator/blas/types.h"

namespace anvil::simulator::blas {
namespace {

constexpr Attribute kConfiguration[] = {
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_ID, Algorithm, id),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_TILE_ID, Algorithm, tile_id),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, Algorithm, splitk_num),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, Algorithm, reduction_scheme),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, Algorithm, cta_swizzling),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, Algorithm, custom_option),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_STAGES_ID, Algorithm, stages_id),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, Algorithm, inner_shape_id),
    ANVIL_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, Algorithm, cluster_shape_id),
};

}  // namespace

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t,
                                                        cublasComputeType_t compute,
                                                        cudaDataType_t scale,
                                                        cudaDataType_t a,
                                                        cudaDataType_t b,
                                                        cudaDataType_t c,
                                                        cudaDataType_t d,
                                                        int id,
                                                        cublasLtMatmulAlgo_t* algo) {
  ANVIL_BLAS_CALL;
  if (algo == nullptr || id < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (a != b || c != d || !computation(compute, scale, a, c).has_value()) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Algorithm algorithm;
  algorithm.id = id;
  std::memset(algo, 0, sizeof(*algo));
  std::memcpy(algo, &algorithm, sizeof(algorithm));
  return CUBLAS_STATUS_SUCCESS;
}

ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                     cublasLtMatmulAlgoConfigAttributes_t attribute,
                                     const void* value,
                                     size_t bytes) {
  ANVIL_BLAS_CALL;
  return set_attribute(kConfiguration, algo, attribute, value, bytes);
}

ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                     cublasLtMatmulAlgoConfigAttributes_t attribute,
                                     void* value,
                                     size_t bytes,
                                     size_t* written) {
  ANVIL_BLAS_CALL;
  return get_attribute(kConfiguration, algo, attribute, value, bytes, written);
}

}  // namespace anvil::simulator::blas
