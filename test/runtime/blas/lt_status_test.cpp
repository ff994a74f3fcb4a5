// What cublasLtMatmul and its search refuse, as documented.
#include "test/runtime/blas/lt_problem.h"

namespace anvil::runtime::testing {
namespace {

class LtStatus : public BlasTest {
 protected:
  void SetUp() override {
    BlasTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    problem.a = {CUDA_R_32F, 4, 8, 4};
    problem.b = {CUDA_R_32F, 8, 4, 8};
    problem.c = problem.d = {CUDA_R_32F, 4, 4, 4};
    problem.alpha = &one, problem.beta = &one;
    problem.a_data = problem.b_data = problem.c_data = memory.get();
    problem.d_data = memory.get() + 64;
  }
  // Both the search and the call without an algorithm.
  void expect(const char* status) {
    cublasLtMatmulHeuristicResult_t found{};
    EXPECT_STREQ(status, cublasGetStatusName(problem.search(&found)));
    EXPECT_STREQ(status, cublasGetStatusName(problem.run()));
  }
  const float one = 1;
  const double one_double = 1;
  DeviceArray<float> memory{256};
  LtProblem problem;
};

constexpr const char* kSuccess = "CUBLAS_STATUS_SUCCESS";
constexpr const char* kInvalid = "CUBLAS_STATUS_INVALID_VALUE";
constexpr const char* kNotSupported = "CUBLAS_STATUS_NOT_SUPPORTED";

TEST_F(LtStatus, a_valid_problem_succeeds) { expect(kSuccess); }

TEST_F(LtStatus, extents_that_do_not_match_are_invalid) {
  problem.b.rows = 7;
  expect(kInvalid);
}

TEST_F(LtStatus, a_leading_dimension_below_the_contiguous_extent_is_invalid) {
  problem.a.ld = 3;
  expect(kInvalid);
  problem.a.ld = 4;
  problem.a.order = CUBLASLT_ORDER_ROW;  // rows of 8
  expect(kInvalid);
  problem.a.ld = 8;
  expect(kSuccess);
}

TEST_F(LtStatus, c_must_look_like_d) {
  problem.c.order = CUBLASLT_ORDER_ROW;
  expect(kInvalid);
}

TEST_F(LtStatus, batch_counts_must_agree) {
  problem.a.batch = 2;
  expect(kInvalid);
}

TEST_F(LtStatus, a_transposed_operand_has_transposed_extents) {
  problem.transa = CUBLAS_OP_T;
  expect(kInvalid);
  problem.a = {CUDA_R_32F, 8, 4, 8};
  expect(kSuccess);
}

TEST_F(LtStatus, types_that_do_not_combine_are_not_supported) {
  problem.compute = CUBLAS_COMPUTE_64F;
  expect(kNotSupported);
  problem.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  problem.a.type = problem.b.type = problem.c.type = problem.d.type = CUDA_R_16F;
  expect(kNotSupported);
}

TEST_F(LtStatus, complex_products_have_no_epilogue) {
  problem.scale = problem.a.type = problem.b.type = problem.c.type = problem.d.type = CUDA_C_32F;
  const cuComplex complex_one{1, 0};
  problem.alpha = problem.beta = &complex_one;
  problem.bias = memory.get();
  expect(kSuccess);
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  expect(kNotSupported);
  problem.epilogue = CUBLASLT_EPILOGUE_RELU;
  expect(kNotSupported);
}

TEST_F(LtStatus, epilogues_write_columns) {
  problem.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  problem.bias = memory.get();
  expect(kSuccess);
  problem.c.order = problem.d.order = CUBLASLT_ORDER_ROW;
  expect(kNotSupported);
}

TEST_F(LtStatus, epilogues_with_an_auxiliary_buffer_are_not_computed) {
  problem.epilogue = CUBLASLT_EPILOGUE_GELU_AUX;
  expect(kNotSupported);
}

TEST_F(LtStatus, integer_products_are_tn_with_multiples_of_four) {
  const int32_t integer_one = 1;
  problem.compute = CUBLAS_COMPUTE_32I;
  problem.scale = CUDA_R_32I;
  problem.alpha = problem.beta = &integer_one;
  problem.a.type = problem.b.type = CUDA_R_8I;
  problem.c.type = problem.d.type = CUDA_R_32I;
  expect(kNotSupported);
  problem.transa = CUBLAS_OP_T;
  problem.a = {CUDA_R_8I, 8, 4, 8};
  expect(kSuccess);
}

TEST_F(LtStatus, scale_pointers_are_for_8_bit_floating_point) {
  problem.a_scale = memory.get();
  expect(kInvalid);
}

TEST_F(LtStatus, missing_pointers_are_invalid) {
  problem.c_data = nullptr;
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run());
  const float zero = 0;
  problem.beta = &zero;  // c is not read
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  problem.alpha = nullptr;
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run());
}

TEST_F(LtStatus, a_bias_epilogue_needs_a_bias) {
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run());
}

TEST_F(LtStatus, less_workspace_than_the_algorithm_asked_for_is_invalid) {
  problem.max_workspace = 1 << 20;
  cublasLtMatmulHeuristicResult_t found{};
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.search(&found));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run(&found.algo));
  DeviceArray<char> workspace(found.workspaceSize + 256);
  problem.workspace = workspace.get() + 16;  // not aligned
  problem.workspace_bytes = found.workspaceSize;
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run(&found.algo));
  problem.workspace = workspace.get();
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run(&found.algo));
}

TEST_F(LtStatus, memory_must_be_aligned_as_the_search_was_told) {
  cublasLtMatmulHeuristicResult_t found{};
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.search(&found));
  problem.a_data = memory.get() + 1;
  EXPECT_BLAS(CUBLAS_STATUS_NOT_SUPPORTED, problem.run(&found.algo));
  problem.alignment = 4;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.search(&found));
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run(&found.algo));
  problem.alignment = 2;  // half a float
  EXPECT_BLAS(CUBLAS_STATUS_NOT_SUPPORTED, problem.search(&found));
}

// "Any valid cublasHandle_t can be used in place of cublasLtHandle_t."
TEST_F(LtStatus, a_handle_of_cublas_will_do_and_no_handle_will_not) {
  const auto run = [&](void* handle) {
    return cublasLtMatmul(static_cast<cublasLtHandle_t>(handle), problem.operation().get(),
                          problem.alpha, problem.a_data, make(problem.a).get(), problem.b_data,
                          make(problem.b).get(), problem.beta, problem.c_data,
                          make(problem.c).get(), problem.d_data, make(problem.d).get(), nullptr,
                          nullptr, 0, nullptr);
  };
  Handle handle;
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, run(static_cast<cublasHandle_t>(handle)));
  EXPECT_BLAS(CUBLAS_STATUS_NOT_INITIALIZED, run(nullptr));
  char other_library[64] = {};
  EXPECT_BLAS(CUBLAS_STATUS_NOT_INITIALIZED, run(other_library));
}

TEST_F(LtStatus, an_algorithm_that_nobody_initialised_is_invalid) {
  const cublasLtMatmulAlgo_t algorithm{};
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, problem.run(&algorithm));
}

TEST_F(LtStatus, attributes_have_sizes) {
  const auto operation = problem.operation();
  const int64_t wide = 1;
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE,
              cublasLtMatmulDescSetAttribute(operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, &wide,
                                             sizeof(wide)));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE,
              cublasLtMatmulDescSetAttribute(operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, nullptr,
                                             sizeof(int32_t)));
  int32_t transa = -1;
  size_t written = 0;
  EXPECT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasLtMatmulDescGetAttribute(operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, &transa,
                                             sizeof(transa), &written));
  EXPECT_EQ(CUBLAS_OP_N, transa);
  EXPECT_EQ(sizeof(transa), written);
}

}  // namespace
}  // namespace anvil::runtime::testing
