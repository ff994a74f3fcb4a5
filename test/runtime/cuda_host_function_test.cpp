// Host functions. Rules: CUDA Runtime API reference, cudaLaunchHostFunc.
#include <atomic>
#include <thread>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaHostFunction = CudaTest;

// After the work enqueued before it, before the work enqueued later.
TEST_F(CudaHostFunction, RunsBetweenTheWorkBeforeAndAfterIt) {
  struct Seen {
    PinnedArray<int>* value;
    int at_call = -1;
  };
  PinnedArray<int> source(2), value(1);
  source[0] = 1;
  source[1] = 2;
  value[0] = 0;
  DeviceArray<int> array(2);
  TestStream stream;
  Seen seen{&value};
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(array.get(), source.get(), 8, cudaMemcpyHostToDevice, stream));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(value.get(), array.get(), 4, cudaMemcpyDeviceToHost, stream));
  EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
      stream,
      [](void* data) {
        auto* seen = static_cast<Seen*>(data);
        seen->at_call = (*seen->value)[0];
      },
      &seen));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(value.get(), array.get() + 1, 4, cudaMemcpyDeviceToHost, stream));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(seen.at_call, 1);
  EXPECT_EQ(value[0], 2);
}

// It must make no CUDA calls; they may be refused with cudaErrorNotPermitted. So a
// call that is refused must be refused with that.
TEST_F(CudaHostFunction, CudaCallsInsideAreNotPermitted) {
  TestStream stream;
  cudaError_t code = cudaSuccess;
  EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
      stream,
      [](void* data) {
        void* pointer = nullptr;
        *static_cast<cudaError_t*>(data) = cuda().cudaMalloc(&pointer, 16);
      },
      &code));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaErrorNotPermitted, code);
}

TEST_F(CudaHostFunction, RunsOnAnotherThread) {
  TestStream stream;
  std::thread::id id;
  EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
      stream, [](void* data) { *static_cast<std::thread::id*>(data) = std::this_thread::get_id(); },
      &id));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST_F(CudaHostFunction, NullIsInvalid) {
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaLaunchHostFunc(nullptr, nullptr, nullptr));
}

}  // namespace
}  // namespace anvil::runtime::testing
