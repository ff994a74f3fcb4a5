// The stand-in's work is a kernel on the stream: ordered, asynchronous, and able
// to fail after the call.
#include "test/runtime/blas/library.h"

namespace anvil::runtime::testing {
namespace {

cublasStatus_t square(cublasHandle_t handle, const float* a, float* c) {
  const float one = 1, zero = 0;
  return cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, c, 2);
}

TEST_F(BlasTest, a_product_waits_for_its_stream_and_the_caller_does_not) {
  const Mirror a(std::vector<float>{1, 2, 3, 4}), c(std::vector<float>(4));
  Handle handle;
  TestStream stream;
  TestEvent done;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetStream_v2(handle, stream));
  Gate gate;
  gate.close(stream);
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, a.get(), c.get()));
  EXPECT_SUCCESS(cuda().cudaEventRecord(done, stream));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(done));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(done));
  EXPECT_EQ((std::vector<float>{7, 10, 15, 22}), c.read());
}

TEST_F(BlasTest, the_workspace_of_the_handle_is_written) {
  const Mirror a(std::vector<float>{1, 2, 3, 4}), c(std::vector<float>(4));
  const Mirror workspace(std::vector<int>(64, 0));
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetWorkspace_v2(handle, workspace.get(), 256));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, a.get(), c.get()));
  EXPECT_NE(0, workspace.read()[63]);
  // A new stream takes it away.
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, cublasSetStream_v2(handle, nullptr));
  EXPECT_SUCCESS(cuda().cudaMemset(workspace.get(), 0, 256));
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, a.get(), c.get()));
  EXPECT_EQ(0, workspace.read()[63]);
}

TEST_F(BlasTest, freed_memory_fails_the_launch_and_not_the_call) {
  expect_in_new_process(
      [] {
        Handle handle;
        float* freed = nullptr;
        EXPECT_SUCCESS(cuda().cudaMalloc(reinterpret_cast<void**>(&freed), 4096));
        EXPECT_SUCCESS(cuda().cudaFree(freed));
        EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, freed, freed));
        EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
        EXPECT_BLAS(CUBLAS_STATUS_EXECUTION_FAILED, square(handle, freed, freed));
      },
      "kernel 'cublasSgemm_v2'");
}

TEST_F(BlasTest, pageable_memory_fails_the_launch_and_is_named) {
  expect_in_new_process(
      [] {
        Handle handle;
        std::vector<float> pageable(4);
        EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, pageable.data(), pageable.data()));
        EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
      },
      "cublasSgemm_v2: 0x[0-9a-f]+ is pageable host memory");
}

TEST_F(BlasTest, pinned_memory_is_reached) {
  PinnedArray<float> a(4), c(4);
  for (int i = 0; i < 4; ++i) {
    a[i] = static_cast<float>(i + 1);
  }
  Handle handle;
  ASSERT_BLAS(CUBLAS_STATUS_SUCCESS, square(handle, a.get(), c.get()));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(22.0f, c[3]);
}

}  // namespace
}  // namespace anvil::runtime::testing
