// cudaLaunchKernel.
#include <cstring>
#include <span>
#include <stdexcept>

#include "runtime/simulator/capture.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/engine.h"
#include "runtime/simulator/engine_state.h"
#include "runtime/simulator/fault_report.h"
#include "runtime/simulator/injection.h"
#include "runtime/simulator/kernels.h"
#include "runtime/simulator/launch.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"

namespace anvil::simulator {
namespace {

// "Maximum ..." rows of the table of compute capabilities; the same since 3.0.
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxBlockZ = 64;
constexpr unsigned kMaxGridX = 2147483647;
constexpr unsigned kMaxGridYZ = 65535;

size_t aligned(size_t offset, size_t bytes) {
  const size_t alignment = bytes >= 64 ? 64 : 16;
  return (offset + alignment - 1) & ~(alignment - 1);
}

bool fits(dim3 grid, dim3 block) {
  return grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= kMaxGridX && grid.y <= kMaxGridYZ &&
         grid.z <= kMaxGridYZ && block.x >= 1 && block.y >= 1 && block.z >= 1 &&
         block.x <= kMaxThreads && block.y <= kMaxThreads && block.z <= kMaxBlockZ &&
         uint64_t{block.x} * block.y * block.z <= kMaxThreads;
}

size_t payload_bytes(const anvilKernel& kernel) {
  size_t bytes = kernel.argument_count * sizeof(void*);
  for (size_t i = 0; i < kernel.argument_count; ++i) {
    bytes = aligned(bytes, kernel.argument_sizes[i]) + kernel.argument_sizes[i];
  }
  return bytes;
}

// The array of pointers, then what they point to.
void** copy_arguments(const anvilKernel& kernel, std::span<void*> arguments, char* payload) {
  void** copied = reinterpret_cast<void**>(payload);
  size_t offset = arguments.size_bytes();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t bytes = kernel.argument_sizes[i];
    offset = aligned(offset, bytes);
    copied[i] = std::memcpy(payload + offset, arguments[i], bytes);
    offset += bytes;
  }
  return copied;
}

// Takes the place of a kernel that is only counted.
constexpr anvilKernel kNothing{"counted kernel", [](const anvilLaunch*) {}, nullptr, 0};

void report_failure(const LaunchWork& work, const Device& device, const char* what) {
  report("kernel '%s' on device %d failed: %s", work.kernel->name, device.index, what);
}

}  // namespace

cudaError_t launch(const Kernel& kernel,
                   dim3 grid,
                   dim3 block,
                   void** arguments,
                   size_t shared_bytes,
                   Stream& stream,
                   int current_device) {
  const anvilKernel* host = kernel.host.load(std::memory_order_acquire);
  if (host == nullptr) {
    if (!config.count_kernels) {
      report("kernel '%s' has only device code, which the simulator cannot run",
             demangled(kernel.name).c_str());
      return cudaErrorInvalidDeviceFunction;
    }
    host = &kNothing;
  }
  if (!fits(grid, block)) {
    return cudaErrorInvalidConfiguration;
  }
  const std::span given(arguments, arguments == nullptr ? 0 : host->argument_count);
  if (shared_bytes > shared_limit(kernel) || given.size() != host->argument_count) {
    return cudaErrorInvalidValue;
  }
  if (stream.device->index != current_device) {
    return cudaErrorInvalidResourceHandle;
  }
  if (const cudaError_t refused = admit(stream)) {
    return refused;
  }
  const Kernel* counted = host == &kNothing ? &kernel : nullptr;
  if (faults_planned.load(std::memory_order_relaxed)) [[unlikely]] {
    host = planned_kernel(host);
  }
  Submission work(stream, Work::kLaunch, payload_bytes(*host));
  work->launch = {
      host, {copy_arguments(*host, given, work->payload()), grid, block, shared_bytes}, counted};
  if (counted != nullptr && !capturing(stream)) {
    counted->counted.fetch_add(1, std::memory_order_relaxed);
  }
  work.commit();
  return cudaSuccess;
}

void execute_launch(const LaunchWork& work, Device& device) {
  KernelFaults faults(work.kernel->name);
  if (sigsetjmp(faults.jump, 0) != 0) {
    fail(device, cudaErrorIllegalAddress);
    return;
  }
  cudaError_t code = cudaErrorLaunchFailure;
  try {
    work.kernel->body(&work.launch);
    return;
  } catch (const PlannedFailure& planned) {
    code = planned.code;
    report_failure(work, device, "its failure was planned (ANVIL_SIMULATOR_FAULTS)");
  } catch (const std::logic_error& error) {
    code = cudaErrorAssert;
    report_failure(work, device, error.what());
  } catch (const std::exception& error) {
    report_failure(work, device, error.what());
  } catch (...) {
    report_failure(work, device, "an exception that is no std::exception");
  }
  fail(device, code);
}

ANVIL_EXPORT cudaError_t cudaLaunchKernel(const void* function,
                                          dim3 grid,
                                          dim3 block,
                                          void** arguments,
                                          size_t shared_bytes,
                                          cudaStream_t handle) {
  return api([&](Thread& thread) {
    const Kernel* kernel = find_kernel(function);
    if (kernel == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    Stream* stream = resolve(handle, thread);
    if (stream == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    return launch(*kernel, grid, block, arguments, shared_bytes, *stream, thread.device);
  });
}

// Attributes that change where and when blocks run mean nothing here.
ANVIL_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration,
                                             const void* function,
                                             void** arguments) {
  if (configuration == nullptr) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  return cudaLaunchKernel(function, configuration->gridDim, configuration->blockDim, arguments,
                          configuration->dynamicSmemBytes, configuration->stream);
}

}  // namespace anvil::simulator
