#include "runtime/simulator/blas/lt_descriptors.h"

#include <new>

#include "runtime/simulator/blas/attributes.h"
#include "runtime/simulator/blas/call.h"

namespace anvil::simulator::blas {
namespace {

constexpr Attribute kMatmulDesc[] = {
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, MatmulDesc, compute_type),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, MatmulDesc, scale_type),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, MatmulDesc, pointer_mode),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, MatmulDesc, transa),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, MatmulDesc, transb),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, MatmulDesc, transc),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, MatmulDesc, fill_mode),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, MatmulDesc, epilogue),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, MatmulDesc, bias_pointer),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, MatmulDesc, bias_batch_stride),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, MatmulDesc, epilogue_aux_pointer),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, MatmulDesc, epilogue_aux_ld),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, MatmulDesc, epilogue_aux_batch_stride),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, MatmulDesc, alpha_vector_batch_stride),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, MatmulDesc, sm_count_target),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MatmulDesc, scale_pointers[0]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MatmulDesc, scale_pointers[1]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, MatmulDesc, scale_pointers[2]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, MatmulDesc, scale_pointers[3]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, MatmulDesc, scale_pointers[4]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, MatmulDesc, scale_pointers[5]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, MatmulDesc, amax_d_pointer),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, MatmulDesc, epilogue_aux_data_type),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, MatmulDesc, epilogue_aux_amax_pointer),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, MatmulDesc, fast_accum),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, MatmulDesc, bias_data_type),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, MatmulDesc, scale_modes[0]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, MatmulDesc, scale_modes[1]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, MatmulDesc, scale_modes[2]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, MatmulDesc, scale_modes[3]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, MatmulDesc, scale_modes[4]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, MatmulDesc, scale_modes[5]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, MatmulDesc, emulation_descriptor),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_ALPHA_BATCH_STRIDE, MatmulDesc, alpha_batch_stride),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BETA_BATCH_STRIDE, MatmulDesc, beta_batch_stride),
};

constexpr Attribute kMatrixLayout[] = {
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, MatrixLayout, type),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, MatrixLayout, order),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, MatrixLayout, rows),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, MatrixLayout, cols),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, MatrixLayout, ld),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, MatrixLayout, batch_count),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, MatrixLayout, strided_batch_offset),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, MatrixLayout, plane_offset),
    ANVIL_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, MatrixLayout, batch_mode),
};

constexpr Attribute kPreference[] = {
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, MatmulPreference, search_mode),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, MatmulPreference, max_workspace_bytes),
    ANVIL_ATTRIBUTE(
        CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, MatmulPreference, reduction_scheme_mask),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, MatmulPreference, min_alignment[0]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, MatmulPreference, min_alignment[1]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, MatmulPreference, min_alignment[2]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, MatmulPreference, min_alignment[3]),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, MatmulPreference, max_waves_count),
    ANVIL_ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, MatmulPreference, impl_mask),
};

// Starts a descriptor in the caller's memory.
template <class Content, class Opaque>
cublasStatus_t initialise(Opaque* opaque, size_t bytes, const Content& content) {
  if (opaque == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (bytes < sizeof(Opaque)) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  new (opaque) Content(content);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Content, class Opaque>
cublasStatus_t create(Opaque** opaque, const Content& content) {
  if (opaque == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *opaque = new (std::nothrow) Opaque;
  return *opaque == nullptr ? CUBLAS_STATUS_ALLOC_FAILED
                            : initialise(*opaque, sizeof(Opaque), content);
}

template <class Opaque>
cublasStatus_t destroy(Opaque* opaque) {
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor,
                                                          cublasComputeType_t compute,
                                                          cudaDataType_t scale) {
  ANVIL_BLAS_CALL;
  return create(descriptor, MatmulDesc{compute, scale});
}
ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t descriptor,
                                                                 size_t bytes,
                                                                 cublasComputeType_t compute,
                                                                 cudaDataType_t scale) {
  ANVIL_BLAS_CALL;
  return initialise(descriptor, bytes, MatmulDesc{compute, scale});
}
ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  ANVIL_BLAS_CALL;
  return destroy(descriptor);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void* value,
                               size_t bytes) {
  ANVIL_BLAS_CALL;
  return set_attribute(kMatmulDesc, descriptor, attribute, value, bytes);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t descriptor,
                               cublasLtMatmulDescAttributes_t attribute,
                               void* value,
                               size_t bytes,
                               size_t* written) {
  ANVIL_BLAS_CALL;
  return get_attribute(kMatmulDesc, descriptor, attribute, value, bytes, written);
}

ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(
    cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  ANVIL_BLAS_CALL;
  return create(layout,
                MatrixLayout{static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, rows, cols, ld});
}
ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout,
                                                                   size_t bytes,
                                                                   cudaDataType type,
                                                                   uint64_t rows,
                                                                   uint64_t cols,
                                                                   int64_t ld) {
  ANVIL_BLAS_CALL;
  return initialise(layout, bytes,
                    MatrixLayout{static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, rows, cols, ld});
}
ANVIL_BLAS_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  ANVIL_BLAS_CALL;
  return destroy(layout);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void* value,
                                 size_t bytes) {
  ANVIL_BLAS_CALL;
  return set_attribute(kMatrixLayout, layout, attribute, value, bytes);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 void* value,
                                 size_t bytes,
                                 size_t* written) {
  ANVIL_BLAS_CALL;
  return get_attribute(kMatrixLayout, layout, attribute, value, bytes, written);
}

ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  ANVIL_BLAS_CALL;
  return create(preference, MatmulPreference{});
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t bytes) {
  ANVIL_BLAS_CALL;
  return initialise(preference, bytes, MatmulPreference{});
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  ANVIL_BLAS_CALL;
  return destroy(preference);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t attribute,
                                     const void* value,
                                     size_t bytes) {
  ANVIL_BLAS_CALL;
  return set_attribute(kPreference, preference, attribute, value, bytes);
}
ANVIL_BLAS_EXPORT cublasStatus_t
cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t attribute,
                                     void* value,
                                     size_t bytes,
                                     size_t* written) {
  ANVIL_BLAS_CALL;
  return get_attribute(kPreference, preference, attribute, value, bytes, written);
}

}  // namespace anvil::simulator::blas
