// The end of the process: nothing hangs, nothing aborts, and after the drain no
// host function runs.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

class SimulatorExit : public ::testing::Test {
 protected:
  SimulatorExit() {
    setenv("ANVIL_DRIVER", "simulator", 1);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }

  static void enqueue_much(cudaStream_t stream) {
    void* pointer = nullptr;
    EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, 1 << 20));
    for (int i = 0; i < 2000; ++i) {
      EXPECT_SUCCESS(cuda().cudaMemsetAsync(pointer, i, 1 << 20, stream));
    }
  }
};

TEST_F(SimulatorExit, WithQueuedWork) {
  EXPECT_EXIT(
      {
        enqueue_much(nullptr);
        std::exit(HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(SimulatorExit, WithAHostFunctionThatNeverReturns) {
  EXPECT_EXIT(
      {
        auto* gate = new Gate;
        gate->close(nullptr);
        enqueue_much(nullptr);
        std::exit(HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(SimulatorExit, WithAThreadThatWaits) {
  EXPECT_EXIT(
      {
        auto* gate = new Gate;
        gate->close(nullptr);
        std::thread([] { cuda().cudaDeviceSynchronize(); }).detach();
        std::exit(HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(SimulatorExit, CallsInDestructorsOfStaticsReturn) {
  EXPECT_EXIT(
      {
        static struct Late {
          cudaStream_t stream = nullptr;
          void* pointer = nullptr;
          ~Late() {
            const bool fine = cuda().cudaMemsetAsync(pointer, 0, 16, stream) == cudaSuccess &&
                              cuda().cudaStreamSynchronize(stream) == cudaSuccess &&
                              cuda().cudaFree(pointer) == cudaSuccess &&
                              cuda().cudaStreamDestroy(stream) == cudaSuccess;
            std::_Exit(fine ? 42 : 1);
          }
        } late;
        cuda().cudaMalloc(&late.pointer, 16);
        cuda().cudaStreamCreateWithFlags(&late.stream, cudaStreamNonBlocking);
        auto* gate = new Gate;
        gate->close(late.stream);
        std::exit(0);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(SimulatorExit, DrainRunsWhatIsQueuedAndDropsWhatComesLater) {
  expect_in_new_process(
      [&] {
        static std::atomic<int> calls{0};
        const auto count = [](void*) { ++calls; };
        TestStream stream;
        enqueue_much(stream);
        EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream, count, nullptr));
        cuda().anvilSimulatorDrain();
        EXPECT_EQ(calls, 1);
        EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream, count, nullptr));
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        EXPECT_EQ(calls, 1);
        TestEvent event;
        EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream));
        EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
        EXPECT_SUCCESS(cuda().cudaEventQuery(event));
        EXPECT_SUCCESS(cuda().cudaStreamQuery(stream));
        cuda().anvilSimulatorDrain();
      },
      "^$");
}

TEST_F(SimulatorExit, DrainAfterAFailedKernelIsQuiet) {
  expect_in_new_process(
      [&] {
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(failing_kernel(), dim3(1), dim3(1), nullptr, 0, nullptr));
        cuda().anvilSimulatorDrain();
      },
      "");
}

TEST_F(SimulatorExit, DrainDropsWhatDoesNotEndInTimeAndSaysSo) {
  expect_in_new_process(
      [&] {
        // A kernel that runs as long as the test wants to.
        static Gate gate;
        TestStream stream;
        gate.close(stream);
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(slow_kernel(), dim3(1), dim3(1), nullptr, 0, stream));
        cuda().anvilSimulatorDrain();
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
      },
      "the process ends with work in its streams: 2 kernels, copies or host functions do not run");
}

TEST_F(SimulatorExit, DrainBeforeAnyCallDoesNothing) {
  expect_in_new_process([&] { cuda().anvilSimulatorDrain(); }, "^$");
}

}  // namespace
}  // namespace anvil::runtime::testing
