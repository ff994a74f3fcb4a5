// Stream capture. Rules: CUDA C++ Programming Guide, "Creating a Graph Using Stream
// Capture" with "Cross-stream Dependencies and Events" and "Prohibited and Unhandled
// Operations"; CUDA Runtime API reference, "Stream Management".
#include <thread>

#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

class CudaCapture : public CudaTest {
 protected:
  void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_SUCCESS(RUNTIME(cudaStreamBeginCapture)(stream, mode));
  }
  // Ends a capture that has become invalid.
  void end_invalid(cudaStream_t stream) {
    cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(this);
    EXPECT_CUDA(cudaErrorStreamCaptureInvalidated, RUNTIME(cudaStreamEndCapture)(stream, &graph));
    EXPECT_EQ(graph, nullptr);
    cuda().cudaGetLastError();
  }
  void end(cudaStream_t stream, size_t expected_nodes) {
    cudaGraph_t graph = nullptr;
    ASSERT_SUCCESS(RUNTIME(cudaStreamEndCapture)(stream, &graph));
    size_t nodes = 0;
    EXPECT_SUCCESS(RUNTIME(cudaGraphGetNodes)(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, expected_nodes);
    EXPECT_SUCCESS(RUNTIME(cudaGraphDestroy)(graph));
  }
  static cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    EXPECT_SUCCESS(cuda().cudaStreamIsCapturing(stream, &status));
    return status;
  }

  OnFirstDevice first_device_;
  TestStream stream_;
  DeviceArray<int> array_{4};
};

TEST_F(CudaCapture, WorkIsNotRunButBecomesNodes) {
  EXPECT_SUCCESS(cuda().cudaMemset(array_.get(), 1, 4));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  begin(stream_);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusActive);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 2, 4, stream_));
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 3, 4, stream_));
  end(stream_, 2);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusNone);
  int value = 0;
  EXPECT_SUCCESS(cuda().cudaMemcpy(&value, array_.get(), 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 0x01010101);
}

// cudaStreamBeginCapture: not on the legacy stream.
TEST_F(CudaCapture, TheLegacyStreamCannotCapture) {
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported,
              RUNTIME(cudaStreamBeginCapture)(nullptr, cudaStreamCaptureModeGlobal));
}

TEST_F(CudaCapture, ACaptureIsBegunOnce) {
  begin(stream_);
  EXPECT_CUDA(cudaErrorIllegalState,
              RUNTIME(cudaStreamBeginCapture)(stream_, cudaStreamCaptureModeGlobal));
  end(stream_, 0);
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorIllegalState, RUNTIME(cudaStreamEndCapture)(stream_, &graph));
}

// "Prohibited and Unhandled Operations": a stream that captures cannot be synchronised
// or queried, and the attempt invalidates the capture.
TEST_F(CudaCapture, SynchronisingTheStreamInvalidates) {
  begin(stream_);
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cuda().cudaStreamSynchronize(stream_));
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusInvalidated);
  EXPECT_CUDA(cudaErrorStreamCaptureInvalidated,
              cuda().cudaMemsetAsync(array_.get(), 2, 4, stream_));
  end_invalid(stream_);
}

TEST_F(CudaCapture, QueryingTheStreamInvalidates) {
  begin(stream_);
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cuda().cudaStreamQuery(stream_));
  end_invalid(stream_);
}

// Same section: nor a handle that encompasses it, such as the device.
TEST_F(CudaCapture, SynchronisingTheDeviceInvalidates) {
  begin(stream_, cudaStreamCaptureModeRelaxed);
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cuda().cudaDeviceSynchronize());
  end_invalid(stream_);
}

// Same section: nor an event that was recorded in a capture.
TEST_F(CudaCapture, QueryingACapturedEventInvalidates) {
  TestEvent event;
  begin(stream_, cudaStreamCaptureModeRelaxed);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream_));
  EXPECT_CUDA(cudaErrorCapturedEvent, cuda().cudaEventQuery(event));
  end_invalid(stream_);
}

// Same section: the legacy stream encompasses blocking streams.
TEST_F(CudaCapture, TheLegacyStreamIsOutOfBoundsWhileABlockingStreamCaptures) {
  TestStream blocking(cudaStreamDefault);
  begin(blocking, cudaStreamCaptureModeRelaxed);
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cuda().cudaMemsetAsync(array_.get(), 2, 4, nullptr));
  end_invalid(blocking);
  begin(stream_, cudaStreamCaptureModeRelaxed);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 2, 4, nullptr));
  end(stream_, 0);
}

// cudaStreamIsCapturing: asking the legacy stream then is an error that does not
// invalidate.
TEST_F(CudaCapture, AskingTheLegacyStreamDoesNotInvalidate) {
  TestStream blocking(cudaStreamDefault);
  begin(blocking, cudaStreamCaptureModeRelaxed);
  cudaStreamCaptureStatus unspecified{};
  EXPECT_CUDA(cudaErrorStreamCaptureImplicit, cuda().cudaStreamIsCapturing(nullptr, &unspecified));
  end(blocking, 0);
}

// "Cross-stream Dependencies and Events": a stream that waits for a captured event
// takes part in the capture.
TEST_F(CudaCapture, AnEventTakesAnotherStreamIntoTheCapture) {
  TestStream other;
  TestEvent fork, join;
  begin(stream_);
  EXPECT_SUCCESS(cuda().cudaEventRecord(fork, stream_));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(other, fork, 0));
  EXPECT_EQ(status(other), cudaStreamCaptureStatusActive);
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 2, 4, other));
  EXPECT_SUCCESS(cuda().cudaEventRecord(join, other));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(stream_, join, 0));
  end(stream_, 1);
  EXPECT_EQ(status(other), cudaStreamCaptureStatusNone);
}

// Same section: it must be joined to the first stream before the end.
TEST_F(CudaCapture, AStreamThatIsNotJoinedIsAnError) {
  TestStream other;
  TestEvent fork;
  begin(stream_);
  EXPECT_SUCCESS(cuda().cudaEventRecord(fork, stream_));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(other, fork, 0));
  EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 2, 4, other));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnjoined, RUNTIME(cudaStreamEndCapture)(stream_, &graph));
  EXPECT_EQ(status(other), cudaStreamCaptureStatusNone);
}

// cudaStreamEndCapture: on the stream that began it.
TEST_F(CudaCapture, ACaptureEndsWhereItBegan) {
  TestStream other;
  TestEvent fork;
  begin(stream_);
  EXPECT_SUCCESS(cuda().cudaEventRecord(fork, stream_));
  EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(other, fork, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnmatched, RUNTIME(cudaStreamEndCapture)(other, &graph));
  end_invalid(stream_);
}

// "Prohibited and Unhandled Operations": two captures cannot be merged.
TEST_F(CudaCapture, TwoCapturesCannotBeMerged) {
  TestStream other;
  TestEvent event;
  begin(stream_);
  begin(other);
  EXPECT_SUCCESS(cuda().cudaEventRecord(event, stream_));
  EXPECT_CUDA(cudaErrorStreamCaptureMerge, cuda().cudaStreamWaitEvent(other, event, 0));
  end_invalid(stream_);
  end_invalid(other);
}

// Same section: no wait for an event from outside, but with cudaEventWaitExternal.
TEST_F(CudaCapture, ACaptureDoesNotDependOnWorkOutside) {
  TestEvent outside;
  EXPECT_SUCCESS(cuda().cudaEventRecord(outside, nullptr));
  begin(stream_);
  EXPECT_CUDA(cudaErrorStreamCaptureIsolation, cuda().cudaStreamWaitEvent(stream_, outside, 0));
  end_invalid(stream_);
}

// cudaThreadExchangeStreamCaptureMode: cudaMalloc is potentially unsafe, and the mode
// says whom it is forbidden.
TEST_F(CudaCapture, AGlobalCaptureForbidsUnsafeCallsInEveryThread) {
  begin(stream_, cudaStreamCaptureModeGlobal);
  std::thread([] {
    void* pointer = nullptr;
    EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cuda().cudaMalloc(&pointer, 16));
  }).join();
  end_invalid(stream_);
}

TEST_F(CudaCapture, AThreadLocalCaptureForbidsThemInItsThread) {
  begin(stream_, cudaStreamCaptureModeThreadLocal);
  std::thread([] { DeviceArray<int> allowed(4); }).join();
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusActive);
  void* pointer = nullptr;
  EXPECT_CUDA(cudaErrorStreamCaptureUnsupported, cuda().cudaMalloc(&pointer, 16));
  end_invalid(stream_);
}

TEST_F(CudaCapture, ARelaxedCaptureForbidsNothing) {
  begin(stream_, cudaStreamCaptureModeRelaxed);
  DeviceArray<int> allowed(4);
  end(stream_, 0);
}

TEST_F(CudaCapture, AThreadMayExemptItself) {
  begin(stream_);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_SUCCESS(RUNTIME(cudaThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  {
    DeviceArray<int> allowed(4);
  }
  EXPECT_SUCCESS(RUNTIME(cudaThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  end(stream_, 0);
}

// cudaStreamEndCapture: by the thread that began it, unless the capture is relaxed.
TEST_F(CudaCapture, ACaptureEndsInItsThread) {
  begin(stream_);
  std::thread([&] {
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaErrorStreamCaptureWrongThread, RUNTIME(cudaStreamEndCapture)(stream_, &graph));
  }).join();
  end(stream_, 0);
}

// cudaStreamGetCaptureInfo: the identifier of a capture is its own.
TEST_F(CudaCapture, EachCaptureHasItsIdentifier) {
  unsigned long long ids[2] = {};
  for (unsigned long long& id : ids) {
    begin(stream_);
    cudaStreamCaptureStatus status{};
    size_t dependencies = 9;
    EXPECT_SUCCESS(cuda().cudaMemsetAsync(array_.get(), 2, 4, stream_));
    EXPECT_SUCCESS(RUNTIME(cudaStreamGetCaptureInfo)(stream_, &status, &id, nullptr, nullptr,
                                                     nullptr, &dependencies));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(dependencies, 1u);
    end(stream_, 1);
  }
  EXPECT_NE(ids[0], ids[1]);
}

}  // namespace
}  // namespace anvil::runtime::testing
