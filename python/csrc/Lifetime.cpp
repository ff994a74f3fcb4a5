// Start, fork and end of the process as Python sees them.
#include <ATen/Context.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/pybind.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "aten_ops/Environment.h"
#include "backend/BlockingRegion.h"
#include "backend/Functions.h"
#include "backend/Lifecycle.h"
#include "python/csrc/Bindings.h"

namespace anvil::python {
namespace {

namespace py = pybind11;

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

void* release_gil() {
  if (!Py_IsInitialized() || is_finalizing() || !PyGILState_Check()) {
    return nullptr;
  }
  return PyEval_SaveThread();
}

// The thread that ends the process; no thread as long as it does not end.
std::atomic<std::thread::id> ending_thread{};

bool may_not_return() {
  const std::thread::id ending = ending_thread.load();
  return ending != std::thread::id{} && ending != std::this_thread::get_id();
}

void acquire_gil(void* token) {
  // Python before 3.14 ends a thread that asks for the GIL during finalisation by unwinding it,
  // which C++ frames turn into an abort. Such a thread (a daemon one: others were joined) stays
  // here; the process is about to end.
  while (is_finalizing() || may_not_return()) {
    pause();
  }
  PyEval_RestoreThread(static_cast<PyThreadState*>(token));
}

void end() {
  ending_thread.store(std::this_thread::get_id());
  drain();
}

// A thread of libanvil that waits must not hold the GIL; see Note [Blocking and the GIL].
constexpr GilHooks kGilHooks{&release_gil, &acquire_gil};

// The first use of the device from Python.
void initialize() {
  torch::utils::register_fork_handler_for_device_init(kDeviceType);
  ensure_initialized();
  check_environment();
  at::globalContext().lazyInitDevice(kDeviceType);
}

bool bad_fork() { return torch::utils::is_device_in_bad_fork(kDeviceType) || is_in_bad_fork(); }

}  // namespace

void bind_lifetime(py::module_& module) {
  install_gil_hooks(kGilHooks);
  module.def("_init", torch::wrap_pybind_function_no_gil(&initialize));
  module.def("_is_in_bad_fork", &bad_fork);
  module.def("_end", &end);
}

}  // namespace anvil::python
