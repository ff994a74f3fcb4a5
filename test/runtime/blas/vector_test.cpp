// cublas<t>gemv, cublas<t>dot and cublasDotEx against their definition.
#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {
namespace {

TEST_F(BlasTest, gemv_reads_every_operation_and_increment) {
  const int m = 4, n = 3, lda = 6;
  Handle handle;
  for (cublasOperation_t trans : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
    for (int incx : {1, 2, -2}) {
      const int length_x = trans == CUBLAS_OP_N ? n : m, length_y = trans == CUBLAS_OP_N ? m : n;
      const int incy = 3;
      const Mirror a(random_numbers<cuComplex>(lda * n, 1));
      const Mirror x(random_numbers<cuComplex>(1 + (length_x - 1) * std::abs(incx), 2));
      const Mirror y(random_numbers<cuComplex>(1 + (length_y - 1) * incy, 3));
      const cuComplex alpha{2, 1}, beta{0, -1};
      ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasCgemv_v2(handle, trans, m, n, &alpha, a.get(), lda,
                                                        x.get(), incx, &beta, y.get(), incy));
      const std::vector<cuComplex> result = y.read();
      for (int i = 0; i < length_y; ++i) {
        const Exact sum = inner_product(length_x, [&](int64_t p) {
          // A negative increment walks from the vector's end.
          const int64_t at = incx > 0 ? p * incx : (p - length_x + 1) * incx;
          return element(a.host(), trans, i, p, lda) * exact(x.host()[at]);
        });
        ASSERT_EQ(exact(alpha) * sum + exact(beta) * exact(y.host()[i * incy]),
                  exact(result[i * incy]))
            << trans << " " << incx << " " << i;
      }
    }
  }
}

TEST_F(BlasTest, gemv_checks_its_arguments) {
  DeviceArray<float> memory(16);
  const float one = 1;
  Handle handle;
  const auto call = [&](int lda, int incx) {
    return cublasSgemv_v2(handle, CUBLAS_OP_N, 3, 2, &one, memory.get(), lda, memory.get(), incx,
                          &one, memory.get(), 1);
  };
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call(2, 1));
  EXPECT_BLAS(CUBLAS_STATUS_INVALID_VALUE, call(3, 0));
}

TEST_F(BlasTest, a_dot_product_on_the_host_is_there_when_the_call_returns) {
  const Mirror x(std::vector<float>{1, 9, 2, 9, 3}), y(std::vector<float>{4, 5, 6});
  Handle handle;
  float result = -1;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSdot_v2(handle, 3, x.get(), 2, y.get(), 1, &result));
  EXPECT_EQ(32.0f, result);
  // Backwards: 3 * 4 + 2 * 5 + 1 * 6.
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSdot_v2(handle, 3, x.get(), -2, y.get(), 1, &result));
  EXPECT_EQ(28.0f, result);
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSdot_v2(handle, 0, x.get(), 1, y.get(), 1, &result));
  EXPECT_EQ(0.0f, result);
}

TEST_F(BlasTest, a_dot_product_in_device_memory_is_ordered_by_the_stream) {
  const Mirror x(std::vector<cuDoubleComplex>{{1, 2}, {3, -1}}),
      result(std::vector<cuDoubleComplex>(1));
  Handle handle;
  TestStream stream;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetStream_v2(handle, stream));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasZdotc_v2(handle, 2, x.get(), 1, x.get(), 1, result.get()));
  EXPECT_EQ(Exact(15, 0), exact(result.read()[0]));  // the squared norm
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS,
              cublasZdotu_v2(handle, 2, x.get(), 1, x.get(), 1, result.get()));
  EXPECT_EQ(Exact(5, -2), exact(result.read()[0]));  // (1 + 2i)^2 + (3 - i)^2
}

// 4096 + 1 is no half; the sum is single, the result is rounded once.
TEST_F(BlasTest, dot_ex_sums_half_in_single_precision) {
  const Mirror x(
      std::vector<__half>{__half(4096.0f), __half(1.0f), __half(1.0f), __half(1.0f), __half(1.0f)});
  const Mirror ones(std::vector<__half>(5, __half(1.0f)));
  __half result(0.0f);
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasDotEx(handle, 5, x.get(), CUDA_R_16F, 1, ones.get(),
                                                 CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  EXPECT_EQ(4100.0f, static_cast<float>(result));
  EXPECT_BLAS(CUBLAS_STATUS_NOT_SUPPORTED,
              cublasDotEx(handle, 5, x.get(), CUDA_R_16F, 1, ones.get(), CUDA_R_32F, 1, &result,
                          CUDA_R_16F, CUDA_R_32F));
}

}  // namespace
}  // namespace anvil::runtime::testing
