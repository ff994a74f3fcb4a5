// A product for cublasLtMatmul, with every setting in one place.
#pragma once

#include <cublasLt.h>

#include <memory>

#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {

struct Layout {
  cudaDataType type;
  uint64_t rows, cols;
  int64_t ld;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  int32_t batch = 1;
  int64_t batch_stride = 0;
};

template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

inline Owned<cublasLtMatrixLayout_t> make(const Layout& layout) {
  cublasLtMatrixLayout_t made = nullptr;
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasLtMatrixLayoutCreate(&made, layout.type, layout.rows, layout.cols, layout.ld));
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    EXPECT_BLAS(CUBLAS_STATUS_SUCCESS,
                cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof(value)));
  };
  set(CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<int32_t>(layout.order));
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, layout.batch);
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, layout.batch_stride);
  return {made, cublasLtMatrixLayoutDestroy};
}

class LtHandle {
 public:
  LtHandle() { EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&handle_)); }
  ~LtHandle() { EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtDestroy(handle_)); }
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  operator cublasLtHandle_t() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

struct LtProblem {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int64_t bias_batch_stride = 0;
  cublasLtPointerMode_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  const void* a_scale = nullptr;
  Layout a{}, b{}, c{}, d{};
  const void *alpha = nullptr, *beta = nullptr;
  const void *a_data = nullptr, *b_data = nullptr, *c_data = nullptr;
  void* d_data = nullptr;
  // Of the search.
  uint64_t max_workspace = 0;
  uint32_t alignment = 256;
  // Of the call: what is lent, if not what the search asked for.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;

  Owned<cublasLtMatmulDesc_t> operation() const {
    cublasLtMatmulDesc_t made = nullptr;
    EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescCreate(&made, compute, scale));
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      EXPECT_BLAS(CUBLAS_STATUS_SUCCESS,
                  cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof(value)));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<int32_t>(transa));
    set(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<int32_t>(transb));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogue));
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_batch_stride);
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, static_cast<int32_t>(pointer_mode));
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a_scale);
    return {made, cublasLtMatmulDescDestroy};
  }

  // The search's status; `found` stays empty without an algorithm.
  cublasStatus_t search(cublasLtMatmulHeuristicResult_t* found) const {
    LtHandle handle;
    cublasLtMatmulPreference_t preference = nullptr;
    EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceCreate(&preference));
    const Owned<cublasLtMatmulPreference_t> owner(preference, cublasLtMatmulPreferenceDestroy);
    EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceSetAttribute(
                                           preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &max_workspace, sizeof(max_workspace)));
    for (auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceSetAttribute(
                                             preference, attribute, &alignment, sizeof(alignment)));
    }
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, operation().get(), make(a).get(), make(b).get(),
                                       make(c).get(), make(d).get(), preference, 1, found, &count);
    EXPECT_EQ(status == CUBLAS_STATUS_SUCCESS, count == 1);
    return status;
  }

  // Without an algorithm the call searches itself.
  cublasStatus_t run(const cublasLtMatmulAlgo_t* algorithm = nullptr,
                     cudaStream_t stream = nullptr) const {
    LtHandle handle;
    return cublasLtMatmul(handle, operation().get(), alpha, a_data, make(a).get(), b_data,
                          make(b).get(), beta, c_data, make(c).get(), d_data, make(d).get(),
                          algorithm, workspace, workspace_bytes, stream);
  }
};

}  // namespace anvil::runtime::testing
