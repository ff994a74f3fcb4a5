// Products of the GEMM family against their definition.
#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {
namespace {

using Operation = cublasOperation_t;

template <class T>
cublasStatus_t gemm(cublasHandle_t handle,
                    Operation transa,
                    Operation transb,
                    int m,
                    int n,
                    int k,
                    const T* alpha,
                    const T* a,
                    int lda,
                    const T* b,
                    int ldb,
                    const T* beta,
                    T* c,
                    int ldc) {
  if constexpr (std::is_same_v<T, __half>) {
    return cublasHgemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (std::is_same_v<T, float>) {
    return cublasSgemm_v2(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (std::is_same_v<T, double>) {
    return cublasDgemm_v2(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else if constexpr (std::is_same_v<T, cuComplex>) {
    return cublasCgemm_v2(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else {
    return cublasZgemm_v2(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
}

template <class T>
class GemmOf : public BlasTest {};
using EveryType = ::testing::Types<__half, float, double, cuComplex, cuDoubleComplex>;
TYPED_TEST_SUITE(GemmOf, EveryType);

TYPED_TEST(GemmOf, equals_its_definition_for_every_operation_and_leading_dimension) {
  const int m = 5, n = 11, k = 7, spare = 3;
  Handle handle;
  for (Operation transa : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (Operation transb : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      const int lda = (transa == CUBLAS_OP_N ? m : k) + spare;
      const int ldb = (transb == CUBLAS_OP_N ? k : n) + spare, ldc = m + spare;
      const Mirror a(random_numbers<TypeParam>(lda * (transa == CUBLAS_OP_N ? k : m), 1));
      const Mirror b(random_numbers<TypeParam>(ldb * (transb == CUBLAS_OP_N ? n : k), 2));
      const Mirror c(random_numbers<TypeParam>(ldc * n, 3));
      const TypeParam alpha = number<TypeParam>(2), beta = number<TypeParam>(-1);
      ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
                  gemm<TypeParam>(handle, transa, transb, m, n, k, &alpha, a.get(), lda, b.get(),
                                  ldb, &beta, c.get(), ldc));
      const std::vector<TypeParam> result = c.read();
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < ldc; ++i) {
          const Exact before = exact(c.host()[i + j * ldc]);
          const Exact sum = inner_product(k, [&](int64_t p) {
            return element(a.host(), transa, i < m ? i : 0, p, lda) *
                   element(b.host(), transb, p, j, ldb);
          });
          // What lies between the columns stays.
          const Exact expected = i < m ? exact(alpha) * sum + exact(beta) * before : before;
          ASSERT_EQ(expected, exact(result[i + j * ldc]))
              << transa << transb << " " << i << "," << j;
        }
      }
    }
  }
}

// Larger than a tile in each direction; not a multiple of a register.
TEST_F(BlasTest, a_large_product_equals_its_definition) {
  const int m = 141, n = 135, k = 519;
  const Mirror a(random_numbers<float>(m * k, 1)), b(random_numbers<float>(k * n, 2));
  const Mirror c(std::vector<float>(m * n, std::nanf("")));
  const float one = 1, zero = 0;
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
                                                    a.get(), m, b.get(), k, &zero, c.get(), m));
  const std::vector<float> result = c.read();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const Exact sum = inner_product(
          k, [&](int64_t p) { return exact(a.host()[i + p * m]) * exact(b.host()[p + j * k]); });
      ASSERT_EQ(sum, exact(result[i + j * m])) << i << "," << j;
    }
  }
}

TEST_F(BlasTest, factors_of_zero_leave_nan_unread) {
  const std::vector<float> nans(9, std::nanf(""));
  const Mirror a(nans), b(nans), c(nans);
  const float zero = 0;
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, 3, 3, &zero, a.get(), 3, b.get(),
                             3, &zero, c.get(), 3));
  EXPECT_EQ(std::vector<float>(9, 0.0f), c.read());
}

TEST_F(BlasTest, nothing_to_sum_scales_c) {
  const Mirror a(std::vector<float>(4, 1)), c(std::vector<float>{1, 2, 3, 4});
  const float one = 1, three = 3;
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one,
                                                    a.get(), 2, a.get(), 1, &three, c.get(), 2));
  EXPECT_EQ((std::vector<float>{3, 6, 9, 12}), c.read());
}

TEST_F(BlasTest, factors_in_device_memory_are_read_when_the_product_runs) {
  const Mirror a(std::vector<float>{1, 2, 3, 4}), c(std::vector<float>(4, 1));
  const Mirror factors(std::vector<float>{0, 0});
  const std::vector<float> later{2, 10};
  Handle handle;
  TestStream stream;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetStream_v2(handle, stream));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
  Gate gate;
  gate.close(stream);
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, factors.get(), a.get(), 2,
                             a.get(), 2, factors.get() + 1, c.get(), 2));
  EXPECT_SUCCESS(cuda().cudaMemcpy(factors.get(), later.data(), 8, cudaMemcpyHostToDevice));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  gate.open();
  // [1 3; 2 4] squared is [7 15; 10 22].
  EXPECT_EQ((std::vector<float>{24, 30, 40, 54}), c.read());
}

TEST_F(BlasTest, batches_by_stride_and_by_pointers_are_the_same_products) {
  const int m = 3, n = 2, k = 4, batch = 5;
  const Mirror a(random_numbers<float>(m * k * batch, 1)),
      b(random_numbers<float>(k * n * batch, 2));
  const Mirror strided(std::vector<float>(m * n * batch)),
      pointed(std::vector<float>(m * n * batch));
  std::vector<const float*> as, bs;
  std::vector<float*> cs;
  for (int i = 0; i < batch; ++i) {
    as.push_back(a.get() + i * m * k);
    bs.push_back(b.get() + i * k * n);
    cs.push_back(pointed.get() + i * m * n);
  }
  const Mirror a_pointers(as), b_pointers(bs);
  const Mirror c_pointers(cs);
  const float one = 1, zero = 0;
  Handle handle;
  ASSERT_BLAS(
      CUBLAS_STATUS_SUCCESS,
      cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a.get(), m, m * k,
                                b.get(), k, k * n, &zero, strided.get(), m, m * n, batch));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a_pointers.get(),
                                 m, b_pointers.get(), k, &zero, c_pointers.get(), m, batch));
  const std::vector<float> result = strided.read();
  EXPECT_EQ(result, pointed.read());
  for (int s = 0; s < batch; ++s) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const Exact sum = inner_product(k, [&](int64_t p) {
          return element(a.host(), CUBLAS_OP_N, i, p, m, s * m * k) *
                 element(b.host(), CUBLAS_OP_N, p, j, k, s * k * n);
        });
        ASSERT_EQ(sum, exact(result[s * m * n + i + j * m]));
      }
    }
  }
}

template <class In, class Out>
std::vector<Out> product_ex(cudaDataType in,
                            cudaDataType out,
                            cublasComputeType_t compute,
                            const void* one,
                            const void* zero,
                            const std::vector<In>& a,
                            const std::vector<In>& b,
                            int k) {
  const Mirror a_memory(a), b_memory(b);
  const Mirror c(std::vector<Out>(1));
  Handle handle;
  EXPECT_BLAS(
      CUBLAS_STATUS_SUCCESS,
      cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, k, one, a_memory.get(), in, 1,
                   b_memory.get(), in, k, zero, c.get(), out, 1, compute, CUBLAS_GEMM_DEFAULT));
  return c.read();
}

// 4096 + 1 is no half, but the sum in single precision ends at one.
TEST_F(BlasTest, the_compute_type_is_the_accumulator) {
  std::vector<__half> a(9, __half(1.0f)), b(9, __half(1.0f));
  a[0] = __half(4096.0f);
  const float one = 1, zero = 0;
  const __half half_one(1.0f), half_zero(0.0f);
  EXPECT_EQ(4104.0f, static_cast<float>(product_ex<__half, __half>(
                         CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, &one, &zero, a, b, 9)[0]));
  EXPECT_EQ(4096.0f,
            static_cast<float>(product_ex<__half, __half>(
                CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, &half_one, &half_zero, a, b, 9)[0]));
}

TEST_F(BlasTest, fast_modes_round_their_operands) {
  const float value = 1 + std::ldexp(1.0f, -9), one = 1, zero = 0;
  const std::vector<float> a{value}, b{1.0f};
  const auto square = [&](cublasComputeType_t compute) {
    return product_ex<float, float>(CUDA_R_32F, CUDA_R_32F, compute, &one, &zero, a, b, 1)[0];
  };
  const float tiny = std::ldexp(1.0f, -12);
  EXPECT_EQ(value, square(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(value, square(CUBLAS_COMPUTE_32F_FAST_TF32));  // 10 bits of mantissa
  EXPECT_EQ(1.0f, square(CUBLAS_COMPUTE_32F_FAST_16BF));   // 7
  const std::vector<float> below{1 + tiny};
  EXPECT_EQ(1.0f, (product_ex<float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32,
                                            &one, &zero, below, b, 1)[0]));
}

TEST_F(BlasTest, tf32_is_a_math_mode_of_single_precision) {
  const Mirror a(std::vector<float>{1 + std::ldexp(1.0f, -12)}), b(std::vector<float>{1});
  const Mirror c(std::vector<float>{0});
  const float one = 1, zero = 0;
  Handle handle;
  const auto product = [&] {
    EXPECT_BLAS(CUBLAS_STATUS_SUCCESS,
                cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.get(), 1, b.get(),
                               1, &zero, c.get(), 1));
    return c.read()[0];
  };
  EXPECT_EQ(a.host()[0], product());
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  EXPECT_EQ(1.0f, product());
}

TEST_F(BlasTest, integers_and_half_precision_end_in_wider_types) {
  const int one = 1, zero = 0;
  EXPECT_EQ(3 * 127 * -128,
            (product_ex<int8_t, int32_t>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, &one, &zero,
                                         {127, 127, 127}, {-128, -128, -128}, 3)[0]));
  const float single_one = 1, single_zero = 0;
  EXPECT_EQ(4097.0f, (product_ex<__nv_bfloat16, float>(
                         CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, &single_one, &single_zero,
                         {__nv_bfloat16(4096.0f), __nv_bfloat16(1.0f)},
                         {__nv_bfloat16(1.0f), __nv_bfloat16(1.0f)}, 2)[0]));
}

}  // namespace
}  // namespace anvil::runtime::testing
