// The descriptors of cuBLASLt, as they lie in its opaque structures. Fields
// carry the attributes' names.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace anvil::simulator::blas {

struct MatmulDesc {
  int32_t compute_type, scale_type;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N, transc = CUBLAS_OP_N;
  int32_t fill_mode = CUBLAS_FILL_MODE_FULL;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t sm_count_target = 0;
  int32_t epilogue_aux_data_type = -1, bias_data_type = -1;
  // The modes of a, b, c, d, aux and d_out: 0 is one float for the matrix.
  int32_t scale_modes[6] = {};
  int8_t fast_accum = 0;
  const void* bias_pointer = nullptr;
  void* epilogue_aux_pointer = nullptr;
  // Of a, b, c, d, aux and d_out.
  const void* scale_pointers[6] = {};
  void *amax_d_pointer = nullptr, *epilogue_aux_amax_pointer = nullptr;
  void* emulation_descriptor = nullptr;
  int64_t bias_batch_stride = 0;
  int64_t epilogue_aux_ld = 0, epilogue_aux_batch_stride = 0;
  int64_t alpha_vector_batch_stride = 0;
  int64_t alpha_batch_stride = 0, beta_batch_stride = 0;
};
static_assert(sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t));

struct MatrixLayout {
  uint32_t type;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows, cols;
  int64_t ld;
  int32_t batch_count = 1;
  uint32_t batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
  int64_t strided_batch_offset = 0, plane_offset = 0;
};
static_assert(sizeof(MatrixLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

struct MatmulPreference {
  uint32_t search_mode = CUBLASLT_SEARCH_BEST_FIT;
  uint32_t reduction_scheme_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint64_t max_workspace_bytes = 0;
  uint32_t min_alignment[4] = {256, 256, 256, 256};  // of a, b, c and d, in bytes
  float max_waves_count = 0;
  uint32_t grouped[3] = {};
  uint64_t impl_mask = ~uint64_t{0};
};
static_assert(sizeof(MatmulPreference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

// A descriptor's content; null stays null.
inline const MatmulDesc* content(cublasLtMatmulDesc_t descriptor) {
  return reinterpret_cast<const MatmulDesc*>(descriptor);
}
inline const MatrixLayout* content(cublasLtMatrixLayout_t layout) {
  return reinterpret_cast<const MatrixLayout*>(layout);
}
inline const MatmulPreference* content(cublasLtMatmulPreference_t preference) {
  return reinterpret_cast<const MatmulPreference*>(preference);
}

}  // namespace anvil::simulator::blas
