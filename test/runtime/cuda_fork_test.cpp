// After fork. Rule: CUDA C++ Programming Guide, "Initialization": the runtime's
// state must not be used in a process forked after it was initialised; calls there
// give cudaErrorInitializationError.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaFork = CudaTest;

// The wait status of a child that ran `body`, whose result is its exit code. An
// alarm ends a child that hangs.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int status = -1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  return status;
}

TEST_F(CudaFork, CallsInTheChildAreRefused) {
  const int status = in_child([] {
    void* pointer = nullptr;
    return cuda().cudaMalloc(&pointer, 16) == cudaErrorInitializationError &&
                   cuda().cudaSetDevice(0) == cudaErrorInitializationError &&
                   cuda().cudaDeviceSynchronize() == cudaErrorInitializationError
               ? 0
               : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(CudaFork, AChildOfABusyParentDoesNotHang) {
  TestStream stream;
  TestEvent event;
  DeviceArray<int> array(16);
  Gate gate;
  gate.close(stream);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream));
  const int status = in_child([&] {
    return cuda().cudaStreamSynchronize(stream) != cudaSuccess &&
                   cuda().cudaEventSynchronize(event) != cudaSuccess &&
                   cuda().cudaFree(array.get()) != cudaSuccess &&
                   cuda().cudaStreamDestroy(stream) != cudaSuccess
               ? 0
               : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(CudaFork, TheParentGoesOn) {
  DeviceArray<int> array(1);
  EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 1, 4));
  in_child([] { return 0; });
  int value = 0;
  EXPECT_SUCCESS(cuda().cudaMemcpy(&value, array.get(), 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 0x01010101);
}

}  // namespace
}  // namespace anvil::runtime::testing
