// Events. Rules: CUDA Runtime API reference, "Event Management" and
// cudaStreamWaitEvent; CUDA C++ Programming Guide, "Stream and Event Behavior".
#include <atomic>
#include <thread>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

using CudaEvent = CudaTest;

// cudaEventQuery: cudaSuccess once all captured work is complete, else
// cudaErrorNotReady.
TEST_F(CudaEvent, QueryTellsWhetherTheWorkIsDone) {
  TestStream stream;
  TestEvent event;
  Gate gate;
  gate.close(stream);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(event));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_SUCCESS(cuda().cudaEventQuery(event));
}

// cudaEventQuery, cudaEventSynchronize: an empty event is complete.
TEST_F(CudaEvent, AnEventThatWasNeverRecordedIsComplete) {
  TestEvent event;
  TestStream stream;
  EXPECT_SUCCESS(cuda().cudaEventQuery(event));
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(stream, event, 0));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
}

// cudaEventRecord: captures what the stream holds at the time of the call.
TEST_F(CudaEvent, StandsOnlyForWorkBeforeIt) {
  TestStream stream;
  TestEvent event;
  Gate gate;
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream));
  gate.close(stream);
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(stream));
}

// cudaEventRecord: another call overwrites what was captured.
TEST_F(CudaEvent, ANewRecordReplacesTheOld) {
  TestStream held, free;
  TestEvent event;
  Gate gate;
  gate.close(held);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, held));
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, free));
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(held));
}

// cudaStreamWaitEvent: later work of the stream waits for what the event captured.
TEST_F(CudaEvent, AStreamWaitsForAnotherThroughAnEvent) {
  TestStream producer, consumer;
  TestEvent event;
  PinnedArray<int> from(1), to(1);
  from[0] = 5;
  to[0] = 0;
  DeviceArray<int> array(1);
  Gate gate;
  gate.close(producer);
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(array.get(), from.get(), 4, cudaMemcpyHostToDevice, producer));
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, producer));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(consumer, event, 0));
  EXPECT_SUCCESS(
      cuda().cudaMemcpyAsync(to.get(), array.get(), 4, cudaMemcpyDeviceToHost, consumer));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(consumer));
  EXPECT_EQ(to[0], 0);
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(consumer));
  EXPECT_EQ(to[0], 5);
}

// cudaStreamWaitEvent: what counts is what the event had captured when it was called.
TEST_F(CudaEvent, AWaitIsForTheRecordOfItsTime) {
  TestStream first, held, waiter;
  TestEvent event;
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, first));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(waiter, event, 0));
  Gate gate;
  gate.close(held);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, held));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(waiter));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(event));
}

// cudaEventDestroy: allowed before the event is complete; the call does not wait.
TEST_F(CudaEvent, MayBeDestroyedBeforeItIsComplete) {
  TestStream stream, waiter;
  Gate gate;
  gate.close(stream);
  {
    TestEvent event;
    EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream));
    EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(waiter, event, 0));
  }
  TestEvent other;  // may reuse the resources; must not disturb the wait
  EXPECT_SUCCESS(cuda().cudaEventRecord(other, waiter));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(waiter));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(waiter));
}

// cudaEventElapsedTime: milliseconds, with a resolution of about 0.5 microseconds.
TEST_F(CudaEvent, ElapsedTimeIsOrdered) {
  TestStream stream;
  TestEvent start, middle, end;
  EXPECT_SUCCESS(cuda().cudaEventRecord(start, stream));
  DeviceArray<char> array(1 << 20);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 1, array.bytes(), stream));
  EXPECT_SUCCESS(cuda().cudaEventRecord(middle, stream));
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array.get(), 2, array.bytes(), stream));
  EXPECT_SUCCESS(cuda().cudaEventRecord(end, stream));
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
  float first = -1, second = -1, both = -1;
  EXPECT_SUCCESS(cuda().cudaEventElapsedTime(&first, start, middle));
  EXPECT_SUCCESS(cuda().cudaEventElapsedTime(&second, middle, end));
  EXPECT_SUCCESS(cuda().cudaEventElapsedTime(&both, start, end));
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
  // The resolution is half a microsecond for each of the two.
  EXPECT_NEAR(first + second, both, 0.001);
}

// cudaEventElapsedTime: both events must have been recorded.
TEST_F(CudaEvent, ElapsedTimeNeedsRecords) {
  TestEvent recorded, never;
  EXPECT_SUCCESS(cuda().cudaEventRecord(recorded, nullptr));
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(recorded));
  float time = 0;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cuda().cudaEventElapsedTime(&time, recorded, never));
}

// cudaEventElapsedTime: cudaErrorNotReady while a recorded event is incomplete.
TEST_F(CudaEvent, ElapsedTimeOfPendingEventsIsNotReady) {
  TestStream stream;
  TestEvent start, end;
  EXPECT_SUCCESS(cuda().cudaEventRecord(start, stream));
  Gate gate;
  gate.close(stream);
  EXPECT_SUCCESS(cuda().cudaEventRecord(end, stream));
  float time = 0;
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventElapsedTime(&time, start, end));
}

// cudaEventElapsedTime: both events must have been made with timing.
TEST_F(CudaEvent, ElapsedTimeNeedsTiming) {
  TestEvent start, end(cudaEventDisableTiming);
  EXPECT_SUCCESS(cuda().cudaEventRecord(start, nullptr));
  EXPECT_SUCCESS(cuda().cudaEventRecord(end, nullptr));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  float time = 0;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cuda().cudaEventElapsedTime(&time, start, end));
}

TEST_F(CudaEvent, UnknownFlagIsInvalidValue) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaEventCreateWithFlags(&event, 0x80));
}

// Programming Guide, "Stream and Event Behavior": recording fails if event and
// stream are of different devices.
TEST_F(TwoDeviceTest, RecordNeedsEventAndStreamOfOneDevice) {
  TestEvent event;
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  TestStream stream;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cuda().cudaEventRecord(event, stream));
}

// Same section: waiting works across devices, and so synchronises them.
TEST_F(TwoDeviceTest, AStreamMayWaitForAnEventOfAnotherDevice) {
  TestStream first;
  TestEvent event;
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  TestStream second;
  ASSERT_SUCCESS(cuda().cudaSetDevice(0));
  Gate gate;
  gate.close(first);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, first));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(second, event, 0));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(second));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(second));
}

// Same section: elapsed time fails for events of different devices.
TEST_F(TwoDeviceTest, ElapsedTimeNeedsEventsOfOneDevice) {
  TestEvent first;
  EXPECT_SUCCESS(cuda().cudaEventRecord(first, nullptr));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  TestEvent second;
  EXPECT_SUCCESS(cuda().cudaEventRecord(second, nullptr));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  float time = 0;
  EXPECT_CUDA(cudaErrorInvalidResourceHandle, cuda().cudaEventElapsedTime(&time, first, second));
}

// Same section: query and synchronize work whatever device is current.
TEST_F(TwoDeviceTest, AnEventMayBeWaitedForFromAnotherDevice) {
  TestEvent event;
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, nullptr));
  ASSERT_SUCCESS(cuda().cudaSetDevice(1));
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  EXPECT_SUCCESS(cuda().cudaEventQuery(event));
}

}  // namespace
}  // namespace anvil::runtime::testing
