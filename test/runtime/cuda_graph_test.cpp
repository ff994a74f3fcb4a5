// Graphs. Rules: CUDA C++ Programming Guide, "CUDA Graphs"; CUDA Runtime API
// reference, "Graph Management".
#include <atomic>

#include "test/runtime/kernels.h"
#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

class CudaGraph : public CudaTest {
 protected:
  // An executable graph of what `work` does in a capture.
  template <class Work>
  cudaGraphExec_t captured(Work&& work) {
    EXPECT_SUCCESS(RUNTIME(cudaStreamBeginCapture)(stream_, cudaStreamCaptureModeGlobal));
    work();
    cudaGraph_t graph = nullptr;
    EXPECT_SUCCESS(RUNTIME(cudaStreamEndCapture)(stream_, &graph));
    cudaGraphExec_t exec = nullptr;
    EXPECT_SUCCESS(RUNTIME(cudaGraphInstantiateWithFlags)(&exec, graph, 0));
    EXPECT_SUCCESS(RUNTIME(cudaGraphDestroy)(graph));
    return exec;
  }
  void launch(cudaGraphExec_t exec, cudaStream_t stream) {
    EXPECT_SUCCESS(RUNTIME(cudaGraphLaunch)(exec, stream));
  }
  void destroy(cudaGraphExec_t exec) { EXPECT_SUCCESS(RUNTIME(cudaGraphExecDestroy)(exec)); }
  void add(float value, cudaStream_t stream) {
    float* data = kernel_pointer(array_.get());
    int n = 4;
    void* arguments[] = {&data, &n, &value};
    EXPECT_SUCCESS(cuda().cudaLaunchKernel(add_kernel(), dim3(1), dim3(32), arguments, 0, stream));
  }
  float first() {
    float value = -1;
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_SUCCESS(cuda().cudaMemcpy(&value, array_.get(), 4, cudaMemcpyDeviceToHost));
    return value;
  }

  OnFirstDevice first_device_;
  TestStream stream_;
  DeviceArray<float> array_{4};
};

// Kernels keep the arguments that they were captured with.
TEST_F(CudaGraph, EachLaunchRunsTheWorkAgain) {
  EXPECT_SUCCESS(cuda().cudaMemset(array_.get(), 0, array_.bytes()));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  const cudaGraphExec_t exec = captured([&] {
    add(1, stream_);
    add(2, stream_);
  });
  EXPECT_EQ(first(), 0);
  launch(exec, stream_);
  launch(exec, stream_);
  EXPECT_EQ(first(), 6);
  destroy(exec);
}

// cudaGraphLaunch: in order with the stream's other work.
TEST_F(CudaGraph, ALaunchIsInStreamOrder) {
  PinnedArray<float> before(4), after(4);
  before[0] = 10;
  const cudaGraphExec_t exec = captured([&] { add(1, stream_); });
  Gate gate;
  gate.close(stream_);
  EXPECT_SUCCESS(cuda().cudaMemcpyAsync(array_.get(), before.get(), before.bytes(),
                                        cudaMemcpyHostToDevice, stream_));
  launch(exec, stream_);
  EXPECT_SUCCESS(cuda().cudaMemcpyAsync(after.get(), array_.get(), after.bytes(),
                                        cudaMemcpyDeviceToHost, stream_));
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(stream_));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
  EXPECT_EQ(after[0], 11);
  destroy(exec);
}

std::atomic<int> counter{0};
void note(void* data) { *static_cast<int*>(data) = counter++; }

// Branches that were forked and joined by events keep their order.
TEST_F(CudaGraph, BranchesKeepTheirDependencies) {
  TestStream other;
  TestEvent fork, join;
  int root = -1, left = -1, right = -1, end = -1;
  const cudaGraphExec_t exec = captured([&] {
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream_, note, &root));
    EXPECT_SUCCESS(cuda().cudaEventRecord(fork, stream_));
    EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(other, fork, 0));
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream_, note, &left));
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(other, note, &right));
    EXPECT_SUCCESS(cuda().cudaEventRecord(join, other));
    EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(stream_, join, 0));
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream_, note, &end));
  });
  for (int round = 0; round < 20; ++round) {
    counter = 0;
    launch(exec, stream_);
    EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream_));
    EXPECT_EQ(root, 0);
    EXPECT_EQ(left + right, 3);
    EXPECT_EQ(end, 3);
  }
  destroy(exec);
}

// "A graph may not run concurrently with itself": launches are ordered.
TEST_F(CudaGraph, LaunchesOfOneGraphAreOrdered) {
  TestStream first_stream, second_stream;
  const cudaGraphExec_t exec = captured([&] { add(1, stream_); });
  EXPECT_SUCCESS(cuda().cudaMemset(array_.get(), 0, array_.bytes()));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  Gate gate;
  gate.close(first_stream);
  launch(exec, first_stream);
  launch(exec, second_stream);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(second_stream));
  gate.open();
  EXPECT_EQ(first(), 2);
  destroy(exec);
}

// A graph is a copy of what was captured: a copy node reads its source at launch.
TEST_F(CudaGraph, ACopyReadsItsSourceWhenItRuns) {
  PinnedArray<float> source(4);
  source[0] = 1;
  const cudaGraphExec_t exec = captured([&] {
    EXPECT_SUCCESS(cuda().cudaMemcpyAsync(array_.get(), source.get(), source.bytes(),
                                          cudaMemcpyHostToDevice, stream_));
  });
  source[0] = 5;
  launch(exec, stream_);
  EXPECT_EQ(first(), 5);
  destroy(exec);
}

// cudaGraphExecDestroy: also while a launch is in flight.
TEST_F(CudaGraph, MayBeDestroyedWhileItRuns) {
  EXPECT_SUCCESS(cuda().cudaMemset(array_.get(), 0, array_.bytes()));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  const cudaGraphExec_t exec = captured([&] { add(1, stream_); });
  Gate gate;
  gate.close(stream_);
  launch(exec, stream_);
  destroy(exec);
  gate.open();
  EXPECT_EQ(first(), 1);
}

// cudaEventRecordExternal: a node that records the event when the graph runs.
TEST_F(CudaGraph, AnExternalRecordIsANode) {
  TestEvent event;
  const cudaGraphExec_t exec = captured([&] {
    add(1, stream_);
    EXPECT_SUCCESS(RUNTIME(cudaEventRecordWithFlags)(event, stream_, cudaEventRecordExternal));
  });
  Gate gate;
  gate.close(stream_);
  launch(exec, stream_);
  EXPECT_CUDA(cudaErrorNotReady, cuda().cudaEventQuery(event));
  gate.open();
  EXPECT_SUCCESS(cuda().cudaEventSynchronize(event));
  destroy(exec);
}

// cudaGraphExecUpdate: same topology, else the executable graph stays as it is.
TEST_F(CudaGraph, AnUpdateChangesParametersButNotTopology) {
  EXPECT_SUCCESS(cuda().cudaMemset(array_.get(), 0, array_.bytes()));
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  const cudaGraphExec_t exec = captured([&] { add(1, stream_); });
  for (const int nodes : {1, 2}) {
    EXPECT_SUCCESS(RUNTIME(cudaStreamBeginCapture)(stream_, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) {
      add(10, stream_);
    }
    cudaGraph_t graph = nullptr;
    EXPECT_SUCCESS(RUNTIME(cudaStreamEndCapture)(stream_, &graph));
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t code = RUNTIME(cudaGraphExecUpdate)(exec, graph, &info);
    EXPECT_STREQ(name(code), nodes == 1 ? "cudaSuccess" : "cudaErrorGraphExecUpdateFailure");
    EXPECT_EQ(info.result,
              nodes == 1 ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_SUCCESS(RUNTIME(cudaGraphDestroy)(graph));
  }
  cuda().cudaGetLastError();
  launch(exec, stream_);
  EXPECT_EQ(first(), 10);
  destroy(exec);
}

// cudaUserObjectCreate: the destructor runs when the last owner is gone.
TEST_F(CudaGraph, UserObjectsLiveAsLongAsTheirGraphs) {
  static std::atomic<int> destroyed{0};
  destroyed = 0;
  cudaUserObject_t object = nullptr;
  EXPECT_SUCCESS(RUNTIME(cudaUserObjectCreate)(
      &object, nullptr, [](void*) { ++destroyed; }, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph = nullptr;
  EXPECT_SUCCESS(RUNTIME(cudaGraphCreate)(&graph, 0));
  EXPECT_SUCCESS(RUNTIME(cudaGraphRetainUserObject)(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec = nullptr;
  EXPECT_SUCCESS(RUNTIME(cudaGraphInstantiateWithFlags)(&exec, graph, 0));
  EXPECT_SUCCESS(RUNTIME(cudaGraphDestroy)(graph));
  EXPECT_EQ(destroyed, 0);
  destroy(exec);
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace anvil::runtime::testing
