#include "aten_ops/library/host_call.h"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/from_blob.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "backend/Stream.h"
#include "runtime/error.h"
#include "runtime/table.h"

// Of the OpenMP and MKL runtimes that torch brings; absent in builds of torch
// without them.
extern "C" {
__attribute__((weak)) void omp_set_num_threads(int);
__attribute__((weak)) int MKL_Set_Num_Threads_Local(int);
}

namespace anvil::library {
namespace {

struct Call {
  const char* name;
  std::function<void()> body;
};

// A worker must not start a team of threads of its own: the streams are the
// parallelism. torch sets a thread's OpenMP team size when the thread first
// asks for it, so it is asked first.
void use_one_thread() {
  thread_local const bool done = [] {
    at::get_num_threads();
    if (omp_set_num_threads != nullptr) {
      omp_set_num_threads(1);
    }
    if (MKL_Set_Num_Threads_Local != nullptr) {
      MKL_Set_Num_Threads_Local(1);
    }
    return true;
  }();
  static_cast<void>(done);
}

void run(const anvilLaunch* launch) {
  const std::unique_ptr<Call> call(*static_cast<Call**>(launch->arguments[0]));
  use_one_thread();
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  try {
    call->body();
  } catch (const c10::Error& error) {
    // One line for the simulator's report: without the backtrace, which names
    // functions of torch and the folders it was built in.
    const std::string message = error.what_without_backtrace();
    throw std::runtime_error(std::string(call->name) + ": " +
                             message.substr(0, message.find('\n')));
  }
}

// The launch is a kernel whose one argument is the owning pointer to its Call.
// A kernel and not cudaLaunchHostFunc, because a kernel can fail.
const void* registered_kernel() {
  static constexpr char key = 0;
  static std::once_flag once;
  std::call_once(once, [] {
    static constexpr size_t sizes[] = {sizeof(Call*)};
    static const anvilKernel kernel{"library_call", &run, sizes, 1};
    ANVIL_CUDA_CHECK(runtime::table().anvilSimulatorRegisterKernel(&key, &kernel));
  });
  return &key;
}

// The worker's address of a device or pinned pointer.
void* kernel_address(const void* pointer) {
  void* address = nullptr;
  if (pointer != nullptr) {
    ANVIL_CUDA_CHECK(runtime::table().anvilSimulatorKernelAddress(pointer, &address));
  }
  return address;
}

}  // namespace

HostView::HostView(const at::Tensor& tensor) {
  if (tensor.defined()) {
    *this =
        HostView(tensor.const_data_ptr(), tensor.scalar_type(), tensor.sizes(), tensor.strides());
  }
}

HostView::HostView(const void* data,
                   at::ScalarType dtype,
                   at::IntArrayRef sizes,
                   at::IntArrayRef strides)
    : defined_(true),
      address_(kernel_address(data)),
      dtype_(dtype),
      sizes_(sizes.begin(), sizes.end()),
      strides_(strides.begin(), strides.end()) {}

at::Tensor HostView::tensor() const {
  if (!defined_) {
    return {};
  }
  return at::from_blob(address_, sizes_, strides_, at::TensorOptions(at::kCPU).dtype(dtype_));
}

void host_call(const char* name, std::function<void()> body) {
  TORCH_CHECK(runtime::driver() == runtime::Driver::kSimulator, name,
              ": ATen's CPU implementation can serve the simulator only");
  auto call = std::make_unique<Call>(Call{name, std::move(body)});
  Call* pointer = call.get();
  void* arguments[] = {&pointer};
  ANVIL_CUDA_CHECK(runtime::table().cudaLaunchKernel(registered_kernel(), dim3(1), dim3(1),
                                                     arguments, 0, getCurrentStream()));
  call.release();  // the launch owns it now
}

}  // namespace anvil::library
