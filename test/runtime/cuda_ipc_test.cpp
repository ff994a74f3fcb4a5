// Memory and events that cross processes. Rules: CUDA Runtime API reference,
// cudaIpcGetMemHandle, cudaIpcOpenMemHandle, cudaIpcGetEventHandle,
// cudaEventCreateWithFlags. Two processes: test/python/test_stock.py.

#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

using CudaIpc = CudaTest;

TEST_F(CudaIpc, OnlyDeviceAllocationsHaveAHandle) {
  cudaIpcMemHandle_t handle;
  PinnedArray<int> pinned(4);
  EXPECT_CUDA(cudaErrorInvalidValue, RUNTIME(cudaIpcGetMemHandle)(&handle, pinned.get()));
  DeviceArray<int> array(4);
  EXPECT_SUCCESS(RUNTIME(cudaIpcGetMemHandle)(&handle, array.get()));
}

TEST_F(CudaIpc, CloseNeedsWhatOpenGave) {
  DeviceArray<int> array(4);
  EXPECT_CUDA(cudaErrorInvalidValue, RUNTIME(cudaIpcCloseMemHandle)(array.get()));
}

// cudaEventInterprocess must be given with cudaEventDisableTiming.
TEST_F(CudaIpc, AnEventOfSeveralProcessesHasNoTiming) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue,
              cuda().cudaEventCreateWithFlags(&event, cudaEventInterprocess));
}

// In its own process such an event is an event.
TEST_F(CudaIpc, AnInterprocessEventOrdersStreams) {
  TestStream held, waiter;
  TestEvent event(cudaEventInterprocess | cudaEventDisableTiming);
  cudaIpcEventHandle_t handle;
  EXPECT_SUCCESS(RUNTIME(cudaIpcGetEventHandle)(&handle, event));
  EXPECT_SUCCESS(cuda().cudaEventQuery(event));
  Gate gate;
  gate.close(held);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, held));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(waiter, event, 0));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(event));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(waiter));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(waiter));
}

TEST_F(CudaIpc, OtherEventsHaveNoHandle) {
  TestEvent event(cudaEventDisableTiming);
  cudaIpcEventHandle_t handle;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, RUNTIME(cudaIpcGetEventHandle)(&handle, event));
}

}  // namespace
}  // namespace anvil::runtime::testing
