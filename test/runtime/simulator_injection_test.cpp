// Planned failures: ANVIL_SIMULATOR_FAULTS and anvilSimulatorSetFaults.
#include <dlfcn.h>

#include <cstdlib>
#include <set>
#include <string>

#include "runtime/simulator/extension.h"
#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

// The simulator that the table has loaded.
template <class Function>
Function simulator(const char* name) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(cuda().cudaMalloc), &info);
  return reinterpret_cast<Function>(dlsym(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD), name));
}
cudaError_t set_faults(const char* plan) {
  return simulator<decltype(&anvilSimulatorSetFaults)>("anvilSimulatorSetFaults")(plan);
}
unsigned long long call_count() {
  return simulator<decltype(&anvilSimulatorCallCount)>("anvilSimulatorCallCount")();
}

cudaError_t launch_add(float* memory, float value, cudaStream_t stream) {
  float* data = kernel_pointer(memory);
  int count = 1;
  void* arguments[] = {&data, &count, &value};
  return cuda().cudaLaunchKernel(add_kernel(), dim3(1), dim3(1), arguments, 0, stream);
}

// Plans end with the process: each test has its own.
template <class Body>
void with_plan(const char* plan, Body&& body, const std::string& pattern = "") {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_DRIVER", "simulator", 1);
        setenv("ANVIL_SIMULATOR_FAULTS", plan, 1);
        body();
      },
      pattern);
}

TEST(SimulatorInjection, TheNthCallOfAFunctionFailsAndHasNoEffect) {
  with_plan("cudaMalloc@2=cudaErrorMemoryAllocation", [] {
    void* pointer = nullptr;
    EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, 64));
    void* untouched = nullptr;
    EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaMalloc(&untouched, 64));
    EXPECT_EQ(untouched, nullptr);
    EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaGetLastError());
    EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, 64));
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  });
}

TEST(SimulatorInjection, AStickyErrorStays) {
  with_plan("cudaStreamSynchronize@1=cudaErrorIllegalAddress", [] {
    EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaStreamSynchronize(nullptr));
    cuda().cudaGetLastError();
    EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
    // The other device has a context of its own.
    EXPECT_SUCCESS(cuda().cudaSetDevice(1));
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  });
}

TEST(SimulatorInjection, AnyFunctionIsCounted) {
  with_plan("*@3=cudaErrorInvalidValue", [] {
    int device = 0;
    EXPECT_SUCCESS(cuda().cudaGetDevice(&device));
    EXPECT_SUCCESS(cuda().cudaSetDevice(0));
    EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaDeviceSynchronize());
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_EQ(call_count(), 4u);
  });
}

TEST(SimulatorInjection, AKernelFailsWhenItRuns) {
  with_plan(
      "kernel@2=cudaErrorLaunchFailure",
      [] {
        const TestStream stream;
        const DeviceArray<float> memory(1);
        EXPECT_SUCCESS(launch_add(memory.get(), 1, stream));
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(stream));
        EXPECT_SUCCESS(launch_add(memory.get(), 1, stream));  // only enqueued
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaStreamSynchronize(stream));
        EXPECT_CUDA(cudaErrorLaunchFailure, cuda().cudaDeviceSynchronize());
      },
      "kernel '.*' on device 0 failed: its failure was planned");
}

TEST(SimulatorInjection, ADeviceIsLostAndTheOtherStays) {
  with_plan("device1@2", [] {
    EXPECT_SUCCESS(cuda().cudaSetDevice(1));
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_CUDA(cudaErrorUnknown, cuda().cudaDeviceSynchronize());
    EXPECT_CUDA(cudaErrorUnknown, cuda().cudaDeviceSynchronize());
    cuda().cudaSetDevice(0);
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  });
}

// The error of a call with zeros for arguments, which are not read if it is
// planned to fail.
template <class... Arguments>
cudaError_t call(cudaError_t (*function)(Arguments...)) {
  return function(Arguments{}...);
}
// The two functions that give no code.
cudaError_t call(const char* (* /*function*/)(cudaError_t)) { return cudaSuccess; }

TEST(SimulatorInjection, EveryFunctionOfTheTableFailsAsPlannedOrRefusesThePlan) {
  with_plan("*@1000=cudaErrorUnknown", [] {
    std::set<std::string> refused;
#define ANVIL_TRY(function)                                                        \
  if (set_faults(#function "@1=cudaErrorNoKernelImageForDevice") == cudaSuccess) { \
    EXPECT_CUDA(cudaErrorNoKernelImageForDevice, call(cuda().function));           \
  } else {                                                                         \
    refused.insert(#function);                                                     \
  }
    ANVIL_FOR_EACH_ENTRY_POINT(ANVIL_TRY)
#undef ANVIL_TRY
    const std::set<std::string> expected{"cudaGetLastError",     "cudaPeekAtLastError",
                                         "cudaGetErrorName",     "cudaGetErrorString",
                                         "cudaDriverGetVersion", "cudaRuntimeGetVersion"};
    EXPECT_EQ(refused, expected);
  });
}

TEST(SimulatorInjection, APlanCanBeReplacedAndEnded) {
  with_plan("*@1000=cudaErrorUnknown", [] {
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_SUCCESS(set_faults("cudaDeviceSynchronize@1=cudaErrorInvalidValue"));
    EXPECT_EQ(call_count(), 0u);
    EXPECT_CUDA(cudaErrorInvalidValue, cuda().cudaDeviceSynchronize());
    EXPECT_SUCCESS(set_faults(""));
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_EQ(call_count(), 0u);
  });
}

TEST(SimulatorInjection, WhatIsNoPlanIsRefusedWithTheReason) {
  struct Case {
    const char* plan;
    const char* reason;
  };
  for (const Case& bad : {
           Case{"cudaMalloc", "it has no @N"},
           Case{"cudaMalloc@0=cudaErrorUnknown", "N must be a number from 1 on"},
           Case{"cudaMalloc@x=cudaErrorUnknown", "N must be a number from 1 on"},
           Case{"cudaMaloc@1=cudaErrorUnknown", "there is no such function"},
           Case{"cudaGetLastError@1=cudaErrorUnknown", "this function never fails"},
           Case{"cudaMalloc@1", "it names no error"},
           Case{"cudaMalloc@1=cudaErrorUnknwon", "there is no such error"},
           Case{"cudaMalloc@1=cudaSuccess", "there is no such error"},
           Case{"device99@1", "there is no such device"},
           Case{"device0@1=cudaErrorInvalidValue", "a lost device gives a sticky error"},
           Case{"kernel@1=cudaErrorInvalidValue", "a kernel fails with"},
       }) {
    with_plan(
        bad.plan,
        [] {
          int count = 0;
          EXPECT_CUDA(cudaErrorInitializationError, cuda().cudaGetDeviceCount(&count));
        },
        std::string("is not allowed: ") + bad.reason);
  }
}

}  // namespace
}  // namespace anvil::runtime::testing
