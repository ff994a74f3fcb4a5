// cublasLtMatmul against its definition: layouts, transposes, batches, scale
// factors and epilogues.
#include "test/runtime/blas/lt_problem.h"

namespace anvil::runtime::testing {
namespace {

// Element (i, j) of a matrix in either order.
template <class T>
Exact at(
    const std::vector<T>& memory, const Layout& layout, int64_t i, int64_t j, int64_t batch = 0) {
  const int64_t first = batch * layout.batch_stride;
  return exact(layout.order == CUBLASLT_ORDER_COL ? memory[first + i + j * layout.ld]
                                                  : memory[first + i * layout.ld + j]);
}

template <class T>
Exact operand(const std::vector<T>& memory,
              const Layout& layout,
              cublasOperation_t operation,
              int64_t i,
              int64_t j,
              int64_t batch = 0) {
  if (operation == CUBLAS_OP_N) {
    return at(memory, layout, i, j, batch);
  }
  const Exact value = at(memory, layout, j, i, batch);
  return operation == CUBLAS_OP_C ? std::conj(value) : value;
}

Layout layout_of(
    cudaDataType type, cublasOperation_t operation, int rows, int cols, cublasLtOrder_t order) {
  const uint64_t r = operation == CUBLAS_OP_N ? rows : cols;
  const uint64_t c = operation == CUBLAS_OP_N ? cols : rows;
  const int64_t ld = static_cast<int64_t>(order == CUBLASLT_ORDER_COL ? r : c) + 2;
  return {type, r, c, ld, order};
}

size_t size_of(const Layout& layout) {
  return layout.ld * (layout.order == CUBLASLT_ORDER_COL ? layout.cols : layout.rows);
}

template <class T>
void expect_equal_in_every_layout(cudaDataType type,
                                  cublasComputeType_t compute,
                                  cudaDataType scale,
                                  const void* alpha,
                                  const void* beta,
                                  Exact alpha_value,
                                  Exact beta_value) {
  const int m = 5, n = 4, k = 6;
  for (auto transa : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (auto transb : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (auto order_a : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
        for (auto order_d : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
          LtProblem problem{.compute = compute, .scale = scale, .transa = transa, .transb = transb};
          problem.a = layout_of(type, transa, m, k, order_a);
          problem.b = layout_of(type, transb, k, n, CUBLASLT_ORDER_COL);
          problem.c = problem.d = layout_of(type, CUBLAS_OP_N, m, n, order_d);
          problem.d.ld += 1;
          const Mirror a(random_numbers<T>(size_of(problem.a), 1));
          const Mirror b(random_numbers<T>(size_of(problem.b), 2));
          const Mirror c(random_numbers<T>(size_of(problem.c), 3));
          const Mirror d(random_numbers<T>(size_of(problem.d), 4));
          problem.a_data = a.get(), problem.b_data = b.get();
          problem.c_data = c.get(), problem.d_data = d.get();
          problem.alpha = alpha, problem.beta = beta;
          ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
          const std::vector<T> result = d.read();
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
              const Exact sum = inner_product(k, [&](int64_t p) {
                return operand(a.host(), problem.a, transa, i, p) *
                       operand(b.host(), problem.b, transb, p, j);
              });
              ASSERT_EQ(alpha_value * sum + beta_value * at(c.host(), problem.c, i, j),
                        at(result, problem.d, i, j))
                  << transa << transb << order_a << order_d << " " << i << "," << j;
            }
          }
        }
      }
    }
  }
}

TEST_F(BlasTest, lt_matmul_reads_every_layout_in_every_type) {
  const float single[] = {2, -1};
  const double doubles[] = {2, -1};
  const __half half[] = {__half(2.0f), __half(-1.0f)};
  const cuComplex complex[] = {{2, 1}, {0, -1}};
  const cuDoubleComplex complex_doubles[] = {{2, 1}, {0, -1}};
  const Exact two = 2, minus = -1;
  expect_equal_in_every_layout<float>(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, &single[0],
                                      &single[1], two, minus);
  expect_equal_in_every_layout<__half>(CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, &single[0],
                                       &single[1], two, minus);
  expect_equal_in_every_layout<__half>(CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F, &half[0],
                                       &half[1], two, minus);
  expect_equal_in_every_layout<double>(CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, &doubles[0],
                                       &doubles[1], two, minus);
  expect_equal_in_every_layout<cuComplex>(CUDA_C_32F, CUBLAS_COMPUTE_32F, CUDA_C_32F, &complex[0],
                                          &complex[1], {2, 1}, {0, -1});
  expect_equal_in_every_layout<cuDoubleComplex>(CUDA_C_64F, CUBLAS_COMPUTE_64F, CUDA_C_64F,
                                                &complex_doubles[0], &complex_doubles[1], {2, 1},
                                                {0, -1});
}

// bfloat16 keeps 8 bits, so the numbers are smaller.
TEST_F(BlasTest, lt_matmul_ends_bfloat16_products_in_either_type) {
  const Mirror a(std::vector<__nv_bfloat16>{__nv_bfloat16(3.0f), __nv_bfloat16(256.0f)});
  const Mirror b(std::vector<__nv_bfloat16>{__nv_bfloat16(1.0f), __nv_bfloat16(1.0f)});
  const Mirror single(std::vector<float>(1));
  const Mirror rounded(std::vector<__nv_bfloat16>(1));
  const float one = 1, zero = 0;
  LtProblem problem{.a = {CUDA_R_16BF, 1, 2, 1}, .b = {CUDA_R_16BF, 2, 1, 2}};
  problem.alpha = &one, problem.beta = &zero, problem.a_data = a.get(), problem.b_data = b.get();
  problem.c = problem.d = {CUDA_R_32F, 1, 1, 1};
  problem.d_data = single.get();
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  EXPECT_EQ(259.0f, single.read()[0]);
  problem.c = problem.d = {CUDA_R_16BF, 1, 1, 1};
  problem.d_data = rounded.get();
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  EXPECT_EQ(260.0f, static_cast<float>(rounded.read()[0]));  // to even
}

// d[m, n] = a[m, k] @ b[k, n] in float, with whatever a test adds.
class LtMatmul : public BlasTest {
 protected:
  static constexpr int m = 3, n = 4, k = 2;
  void SetUp() override {
    BlasTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    problem.a = {CUDA_R_32F, m, k, m};
    problem.b = {CUDA_R_32F, k, n, k};
    problem.c = problem.d = {CUDA_R_32F, m, n, m};
    problem.alpha = &one, problem.beta = &zero;
  }
  Exact sum(const std::vector<float>& a, const std::vector<float>& b, int i, int j) const {
    return inner_product(k, [&](int64_t p) { return exact(a[i + p * m]) * exact(b[p + j * k]); });
  }
  void use(const Mirror<float>& a, const Mirror<float>& b, const Mirror<float>& d) {
    problem.a_data = a.get(), problem.b_data = b.get(), problem.d_data = d.get();
  }
  const float one = 1, zero = 0;
  LtProblem problem;
};

TEST_F(LtMatmul, batches_step_by_their_offsets) {
  const int batch = 3;
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n * batch, 2));
  const Mirror d(std::vector<float>(m * n * batch));
  use(a, b, d);
  problem.a.batch = problem.b.batch = problem.c.batch = problem.d.batch = batch;
  problem.a.batch_stride = 0;  // the same a for all
  problem.b.batch_stride = k * n;
  problem.c.batch_stride = problem.d.batch_stride = m * n;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  const std::vector<float> result = d.read();
  for (int s = 0; s < batch; ++s) {
    const std::vector<float> part(b.host().begin() + s * k * n, b.host().end());
    for (int at = 0; at < m * n; ++at) {
      ASSERT_EQ(sum(a.host(), part, at % m, at / m), exact(result[s * m * n + at]));
    }
  }
}

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST_F(LtMatmul, epilogues_add_the_bias_to_rows_and_then_apply_the_activation) {
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror bias(std::vector<float>{0.5f, -2, 3}), d(std::vector<float>(m * n));
  use(a, b, d);
  problem.bias = bias.get();
  const std::pair<cublasLtEpilogue_t, std::function<double(double, double)>> epilogues[] = {
      {CUBLASLT_EPILOGUE_BIAS, [](double x, double b) { return x + b; }},
      {CUBLASLT_EPILOGUE_RELU, [](double x, double) { return std::max(x, 0.0); }},
      {CUBLASLT_EPILOGUE_RELU_BIAS, [](double x, double b) { return std::max(x + b, 0.0); }},
      {CUBLASLT_EPILOGUE_GELU, [](double x, double) { return gelu_tanh(x); }},
      {CUBLASLT_EPILOGUE_GELU_BIAS, [](double x, double b) { return gelu_tanh(x + b); }}};
  for (const auto& [epilogue, formula] : epilogues) {
    problem.epilogue = epilogue;
    ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
    const std::vector<float> result = d.read();
    for (int at = 0; at < m * n; ++at) {
      const double expected =
          formula(sum(a.host(), b.host(), at % m, at / m).real(), bias.host()[at % m]);
      // tanh in single precision is good to a few units in the last place.
      ASSERT_NEAR(expected, result[at], 1e-6 * (1 + std::abs(expected))) << epilogue << " " << at;
    }
  }
}

TEST_F(LtMatmul, the_bias_of_a_batch_steps_by_its_stride) {
  const Mirror a(std::vector<float>(m * k, 0)), b(std::vector<float>(k * n, 0));
  const Mirror bias(std::vector<float>{1, 2, 3, 4, 5, 6}), d(std::vector<float>(2 * m * n));
  use(a, b, d);
  problem.a.batch = problem.b.batch = problem.c.batch = problem.d.batch = 2;
  problem.c.batch_stride = problem.d.batch_stride = m * n;
  problem.epilogue = CUBLASLT_EPILOGUE_BIAS;
  problem.bias = bias.get();
  problem.bias_batch_stride = m;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  const std::vector<float> result = d.read();
  EXPECT_EQ(2.0f, result[1]);
  EXPECT_EQ(5.0f, result[m * n + 1]);
}

TEST_F(LtMatmul, a_leading_dimension_of_zero_broadcasts_c) {
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror c(std::vector<float>{1, 20, 300}), d(std::vector<float>(m * n));
  use(a, b, d);
  problem.c_data = c.get();
  problem.c.ld = 0;
  problem.beta = &one;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  const std::vector<float> result = d.read();
  for (int at = 0; at < m * n; ++at) {
    ASSERT_EQ(sum(a.host(), b.host(), at % m, at / m) + exact(c.host()[at % m]), exact(result[at]));
  }
}

TEST_F(LtMatmul, factors_may_be_a_device_vector_that_scales_rows) {
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror alpha(std::vector<float>{1, 2, 3}), d(std::vector<float>(m * n));
  use(a, b, d);
  problem.alpha = alpha.get();
  problem.pointer_mode = CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run());
  const std::vector<float> result = d.read();
  for (int at = 0; at < m * n; ++at) {
    ASSERT_EQ(exact(alpha.host()[at % m]) * sum(a.host(), b.host(), at % m, at / m),
              exact(result[at]));
  }
}

TEST_F(LtMatmul, the_search_asks_for_a_workspace_that_the_product_overwrites) {
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror d(std::vector<float>(m * n));
  use(a, b, d);
  problem.max_workspace = 1 << 20;
  cublasLtMatmulHeuristicResult_t found{};
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.search(&found));
  ASSERT_GT(found.workspaceSize, 0u);
  ASSERT_LE(found.workspaceSize, problem.max_workspace);
  const Mirror workspace(std::vector<char>(found.workspaceSize, 0));
  problem.workspace = workspace.get();
  problem.workspace_bytes = found.workspaceSize;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run(&found.algo));
  EXPECT_NE(0, workspace.read().back());
  EXPECT_EQ(sum(a.host(), b.host(), 0, 0), exact(d.read()[0]));
}

TEST_F(LtMatmul, work_goes_to_the_stream_of_the_call) {
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror d(std::vector<float>(m * n, -1000));
  use(a, b, d);
  TestStream stream;
  TestEvent done;
  Gate gate;
  gate.close(stream);
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, problem.run(nullptr, stream));
  EXPECT_SUCCESS(cuda().cudaEventRecord(done, stream));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(done));
  gate.open();
  EXPECT_EQ(sum(a.host(), b.host(), 2, 3), exact(d.read()[2 + 3 * m]));
}

}  // namespace
}  // namespace anvil::runtime::testing
