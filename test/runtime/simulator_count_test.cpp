// Kernels that are only counted, and the variables of nvcc's registrations.
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/simulator/stand_in.h"
#include "test/runtime/lookup.h"

namespace anvil::runtime::testing {
namespace {

// Registers a kernel without a body; its host function's address.
const void* device_only_kernel() {
  static int image;
  static char host_function;
  static char kernel_name[] = "_Z5scalePff";
  void** handle = cuda().__cudaRegisterFatBinary(&image);
  cuda().__cudaRegisterFunction(handle, &host_function, kernel_name, kernel_name, -1, nullptr,
                                nullptr, nullptr, nullptr, nullptr);
  cuda().__cudaRegisterFatBinaryEnd(handle);
  return &host_function;
}

std::vector<std::string> counts() {
  std::vector<std::string> lines;
  const auto visit = [](const char* name, uint64_t launches, void* data) {
    static_cast<std::vector<std::string>*>(data)->push_back(std::to_string(launches) + " " + name);
  };
  RUNTIME(anvilSimulatorForEachCountedKernel)(visit, &lines);
  return lines;
}

TEST(SimulatorCount, AKernelWithoutABodyIsCountedAndInOrder) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  setenv("ANVIL_SIMULATOR_KERNELS", "count", 1);
  expect_in_new_process(
      [] {
        const void* kernel = device_only_kernel();
        TestStream stream;
        Gate gate;
        gate.close(stream);
        EXPECT_TRUE(counts().empty());
        for (int i = 0; i < 3; ++i) {
          EXPECT_SUCCESS(cuda().cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, stream));
        }
        EXPECT_CUDA(cudaErrorNotReady, cuda().cudaStreamQuery(stream));
        gate.open();
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
        EXPECT_EQ(counts(), std::vector<std::string>{"3 scale(float*, float)"});
      },
      "");
  unsetenv("ANVIL_SIMULATOR_KERNELS");
}

// A graph's kernels count when it runs, not when it is captured.
TEST(SimulatorCount, EachLaunchOfAGraphCounts) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  setenv("ANVIL_SIMULATOR_KERNELS", "count", 1);
  expect_in_new_process(
      [] {
        const void* kernel = device_only_kernel();
        TestStream stream;
        EXPECT_SUCCESS(RUNTIME(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeGlobal));
        EXPECT_SUCCESS(cuda().cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, stream));
        cudaGraph_t graph = nullptr;
        EXPECT_SUCCESS(RUNTIME(cudaStreamEndCapture)(stream, &graph));
        cudaGraphExec_t exec = nullptr;
        EXPECT_SUCCESS(RUNTIME(cudaGraphInstantiateWithFlags)(&exec, graph, 0));
        EXPECT_TRUE(counts().empty());
        EXPECT_SUCCESS(RUNTIME(cudaGraphLaunch)(exec, stream));
        EXPECT_SUCCESS(RUNTIME(cudaGraphLaunch)(exec, stream));
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
        EXPECT_EQ(counts(), std::vector<std::string>{"2 scale(float*, float)"});
      },
      "");
  unsetenv("ANVIL_SIMULATOR_KERNELS");
}

TEST(SimulatorCount, ADeviceVariableHasMemoryOfItsSize) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  expect_in_new_process(
      [] {
        static int image;
        static char shadow[16];
        static char variable[] = "table";
        void** handle = cuda().__cudaRegisterFatBinary(&image);
        cuda().__cudaRegisterVar(handle, shadow, variable, variable, 0, sizeof(shadow), 0, 0);
        size_t bytes = 0;
        EXPECT_SUCCESS(RUNTIME(cudaGetSymbolSize)(&bytes, shadow));
        EXPECT_EQ(bytes, sizeof(shadow));
        const int to[2] = {7, 8};
        int from = 0;
        EXPECT_SUCCESS(RUNTIME(cudaMemcpyToSymbol)(shadow, to, 8, 8, cudaMemcpyHostToDevice));
        EXPECT_SUCCESS(RUNTIME(cudaMemcpyFromSymbol)(&from, shadow, 4, 12, cudaMemcpyDeviceToHost));
        EXPECT_EQ(from, 8);
        EXPECT_CUDA(cudaErrorInvalidValue,
                    RUNTIME(cudaMemcpyToSymbol)(shadow, to, 8, 12, cudaMemcpyHostToDevice));
        EXPECT_CUDA(cudaErrorInvalidSymbol, RUNTIME(cudaGetSymbolSize)(&bytes, variable));
      },
      "");
}

}  // namespace
}  // namespace anvil::runtime::testing
