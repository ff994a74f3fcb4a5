// Wrong arguments give the statuses that cuBLAS documents.
#include "runtime/simulator/blas/extension.h"
#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {
namespace {

// A valid call of cublasSgemm, to be made wrong in one place.
struct Gemm {
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  int m = 2, n = 3, k = 4, lda = 2, ldb = 4, ldc = 2;
  bool has_alpha = true;

  cublasStatus_t operator()(cublasHandle_t handle, float* memory) const {
    const float one = 1;
    return cublasSgemm_v2(handle, transa, transb, m, n, k, has_alpha ? &one : nullptr, memory, lda,
                          memory, ldb, &one, memory, ldc);
  }
};

class GemmStatus : public BlasTest {
 protected:
  cublasStatus_t call(const Gemm& gemm) { return gemm(handle_, memory_.get()); }
  Handle handle_;
  DeviceArray<float> memory_{64};
};

TEST_F(GemmStatus, a_valid_call_succeeds) { EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, call({})); }

TEST_F(GemmStatus, negative_extents_are_invalid) {
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.m = -1}));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.n = -1}));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.k = -1}));
}

TEST_F(GemmStatus, a_leading_dimension_below_the_rows_in_memory_is_invalid) {
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.lda = 1}));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.ldb = 3}));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.ldc = 1}));
  // Transposed, a's rows in memory are k.
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.transa = CUBLAS_OP_T, .lda = 3}));
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, call({.transb = CUBLAS_OP_T, .ldb = 3}));
}

TEST_F(GemmStatus, missing_factors_and_unknown_operations_are_invalid) {
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.has_alpha = false}));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call({.transa = static_cast<cublasOperation_t>(9)}));
}

TEST_F(GemmStatus, nothing_to_write_is_success) {
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, call({.m = 0, .lda = 1, .ldc = 1}));
}

TEST_F(GemmStatus, no_handle_is_not_initialized) {
  EXPECT_BLAS(CUBLAS_STATUS_NOT_INITIALIZED, Gemm{}(nullptr, memory_.get()));
  char other_library[512] = {};
  EXPECT_BLAS(CUBLAS_STATUS_NOT_INITIALIZED,
              Gemm{}(reinterpret_cast<cublasHandle_t>(other_library), memory_.get()));
}

TEST_F(GemmStatus, types_that_do_not_combine_are_not_supported) {
  const double one = 1;
  EXPECT_BLAS(CUBLAS_STATUS_NOT_SUPPORTED,
              cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, memory_.get(),
                           CUDA_R_32F, 1, memory_.get(), CUDA_R_32F, 1, &one, memory_.get(),
                           CUDA_R_64F, 1, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT));
}

TEST_F(GemmStatus, a_function_that_is_not_computed_is_named_and_counted) {
  const uint64_t before = anvilBlasCalls("cublasSgetrfBatched");
  ::testing::internal::CaptureStderr();
  EXPECT_BLAS(CUBLAS_STATUS_NOT_SUPPORTED,
              cublasSgetrfBatched(handle_, 1, nullptr, 1, nullptr, nullptr, 1));
  EXPECT_NE(std::string::npos,
            ::testing::internal::GetCapturedStderr().find("cublasSgetrfBatched"));
  EXPECT_EQ(before + 1, anvilBlasCalls("cublasSgetrfBatched"));
}

TEST_F(GemmStatus, calls_are_counted_by_name) {
  anvilBlasResetCalls();
  call({});
  call({.m = -1});
  EXPECT_EQ(2u, anvilBlasCalls("cublasSgemm_v2"));
  EXPECT_EQ(0u, anvilBlasCalls("cublasDgemm_v2"));
  uint64_t sum = 0;
  anvilBlasForEachCall(
      [](const char*, uint64_t calls, void* context) { *static_cast<uint64_t*>(context) += calls; },
      &sum);
  EXPECT_EQ(2u, sum);
}

TEST_F(GemmStatus, a_workspace_must_be_aligned) {
  DeviceArray<char> workspace(1024);
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE,
              cublasSetWorkspace_v2(handle_, workspace.get() + 8, 512));
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetWorkspace_v2(handle_, workspace.get(), 512));
}

}  // namespace
}  // namespace anvil::runtime::testing
