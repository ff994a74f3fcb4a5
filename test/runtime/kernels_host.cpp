#include <chrono>
#include <stdexcept>
#include <thread>

#include "runtime/table.h"
#include "test/runtime/kernels.h"
#include "test/runtime/kernels_cuda.h"

namespace anvil::runtime::testing {
namespace {

template <class T>
T argument(const anvilLaunch* launch, int index) {
  return *static_cast<T*>(launch->arguments[index]);
}

void add(const anvilLaunch* launch) {
  float* data = argument<float*>(launch, 0);
  const int n = argument<int>(launch, 1);
  const float value = argument<float>(launch, 2);
  for (int i = 0; i < n; ++i) {
    data[i] += value;
  }
}

void fail(const anvilLaunch*) { throw std::runtime_error("failing as it should"); }

void sleep(const anvilLaunch*) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void run_wild(const anvilLaunch* launch) { argument<float*>(launch, 0)[size_t{1} << 20] = 1; }

// The address of a kernel's registration is its handle on the simulator.
struct Registered {
  anvilKernel kernel;
  const void* handle() {
    if (driver() == Driver::kCuda) {
      return cuda_kernel(kernel.name);
    }
    table().anvilSimulatorRegisterKernel(this, &kernel);
    return this;
  }
};

constexpr size_t kAddArguments[] = {sizeof(float*), sizeof(int), sizeof(float)};
constexpr size_t kWildArguments[] = {sizeof(float*)};

}  // namespace

const void* add_kernel() {
  static Registered kernel{{"add", add, kAddArguments, 3}};
  return kernel.handle();
}

const void* slow_kernel() {
  static Registered kernel{{"slow", sleep, nullptr, 0}};
  return kernel.handle();
}

const void* failing_kernel() {
  static Registered kernel{{"fail", fail, nullptr, 0}};
  return kernel.handle();
}

const void* wild_kernel() {
  static Registered kernel{{"wild", run_wild, kWildArguments, 1}};
  return kernel.handle();
}

float* kernel_pointer(float* device_pointer) {
  if (driver() == Driver::kCuda) {
    return device_pointer;
  }
  void* address = nullptr;
  table().anvilSimulatorKernelAddress(device_pointer, &address);
  return static_cast<float*>(address);
}

}  // namespace anvil::runtime::testing
