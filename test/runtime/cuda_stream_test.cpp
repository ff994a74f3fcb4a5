// Streams. Rules: CUDA Runtime API reference, "Stream Management"; CUDA C++
// Programming Guide, "Streams" in "Asynchronous Concurrent Execution".
#include <atomic>
#include <thread>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaStream = CudaTest;

// Programming Guide, "Streams": the commands of a stream execute in order.
TEST_F(CudaStream, WorkRunsInTheOrderOfItsCalls) {
  TestStream stream;
  struct Step {
    std::vector<int>* log;
    int number;
  };
  std::vector<int> log;
  std::vector<Step> steps;
  for (int i = 0; i < 100; ++i) {
    steps.push_back({&log, i});
  }
  for (Step& step : steps) {
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
        stream,
        [](void* data) {
          auto* step = static_cast<Step*>(data);
          step->log->push_back(step->number);
        },
        &step));
  }
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(i);
  }
  EXPECT_EQ(log, expected);
}

// cudaStreamQuery: cudaSuccess if all is done, else cudaErrorNotReady.
TEST_F(CudaStream, QueryTellsWhetherWorkIsLeft) {
  TestStream stream;
  EXPECT_SUCCESS(cuda().cudaStreamQuery(stream));
  Gate gate;
  gate.close(stream);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(stream));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_SUCCESS(cuda().cudaStreamQuery(stream));
}

// Programming Guide, "Streams": streams do not wait for each other.
TEST_F(CudaStream, AStreamThatIsHeldUpDoesNotHoldUpAnother) {
  TestStream held, free;
  PinnedArray<int> from(1), to(1);
  from[0] = 42;
  to[0] = 0;
  DeviceArray<int> array(1);
  Gate gate;
  gate.close(held);
  EXPECT_SUCCESS(cuda().cudaMemcpyAsync(array.get(), from.get(), 4, cudaMemcpyHostToDevice, free));
  EXPECT_SUCCESS(cuda().cudaMemcpyAsync(to.get(), array.get(), 4, cudaMemcpyDeviceToHost, free));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(free));
  EXPECT_EQ(to[0], 42);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(held));
}

// cudaStreamDestroy: returns at once; the work that is queued still completes.
TEST_F(CudaStream, DestroyDoesNotWaitAndQueuedWorkStillRuns) {
  std::atomic<bool> ran{false};
  Gate gate;
  {
    TestStream stream;
    gate.close(stream);
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
        stream, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &ran));
  }
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_TRUE(ran);
}

TEST_F(CudaStream, FlagsAndPriorityAreKept) {
  int least = 0, greatest = 0;
  ASSERT_SUCCESS(cuda().cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  ASSERT_SUCCESS(cuda().cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  unsigned flags = 0;
  int priority = 1;
  EXPECT_SUCCESS(cuda().cudaStreamGetFlags(stream, &flags));
  EXPECT_SUCCESS(cuda().cudaStreamGetPriority(stream, &priority));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(priority, greatest);
  EXPECT_SUCCESS(cuda().cudaStreamDestroy(stream));
}

// cudaStreamCreateWithPriority: clamps the priority to the range.
TEST_F(CudaStream, PriorityIsClamped) {
  int least = 0, greatest = 0;
  ASSERT_SUCCESS(cuda().cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (const auto& [asked, expected] : {std::pair{least + 10, least}, {greatest - 10, greatest}}) {
    cudaStream_t stream = nullptr;
    ASSERT_SUCCESS(cuda().cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, asked));
    int priority = 1000;
    EXPECT_SUCCESS(cuda().cudaStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, expected);
    EXPECT_SUCCESS(cuda().cudaStreamDestroy(stream));
  }
}

TEST_F(CudaStream, UnknownFlagIsInvalidValue) {
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaStreamCreateWithFlags(&stream, 0x80));
}

TEST_F(TwoDeviceTest, StreamBelongsToTheDeviceThatWasCurrent) {
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  TestStream stream;
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  int device = -1;
  EXPECT_SUCCESS(cuda().cudaStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 1);
}

TEST_F(CudaStream, IsNotCapturing) {
  TestStream stream;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  EXPECT_SUCCESS(cuda().cudaStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
}

// Many threads may use one stream; what each enqueues keeps its own order.
TEST_F(CudaStream, ThreadsMayShareAStream) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 500;
  TestStream stream;
  struct Counter {
    int value = 0;
  } counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) {
        EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
            stream, [](void* data) { ++static_cast<Counter*>(data)->value; }, &counter));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  EXPECT_EQ(counter.value, kThreads * kSteps);
}

}  // namespace
}  // namespace anvil::runtime::testing
