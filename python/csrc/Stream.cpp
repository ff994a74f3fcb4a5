// What torch.Stream and torch.Event have no constructor or method for.
#include <torch/csrc/Event.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include <tuple>

#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/Stream.h"
#include "python/csrc/Bindings.h"
#include "runtime/table.h"

namespace anvil::python {
namespace {

namespace py = pybind11;

// What torch.Stream(stream_id=, device_index=, device_type=) takes.
using Packed = std::tuple<int64_t, int64_t, int64_t>;

Packed pack(const Stream& stream) {
  const auto data = stream.unwrap().pack3();
  return {data.stream_id, data.device_index, static_cast<int64_t>(data.device_type)};
}

c10::Stream unpack(int64_t stream_id, c10::DeviceIndex device) {
  return c10::Stream::unpack3(stream_id, device, kDeviceType);
}

std::tuple<int, int> priority_range() {
  int least = 0;
  int greatest = 0;
  ANVIL_CHECK(runtime::table().cudaDeviceGetStreamPriorityRange(&least, &greatest));
  return {least, greatest};
}

// torch.Event.elapsed_time takes no event of a derived class.
double elapsed_time(py::handle start, py::handle end) {
  TORCH_CHECK_TYPE(THPEvent_Check(start.ptr()) && THPEvent_Check(end.ptr()),
                   "elapsed_time() takes an event");
  const c10::Event& first = reinterpret_cast<THPEvent*>(start.ptr())->event;
  const c10::Event& second = reinterpret_cast<THPEvent*>(end.ptr())->event;
  const py::gil_scoped_release no_gil;
  return first.elapsedTime(second);
}

}  // namespace

void bind_streams(py::module_& module) {
  using torch::wrap_pybind_function_no_gil;

  module.def("_stream_from_pool",
             wrap_pybind_function_no_gil([](int priority, c10::DeviceIndex device) {
               return pack(getStreamFromPool(priority, device));
             }),
             py::arg("priority"), py::arg("device"));
  module.def("_external_stream",
             wrap_pybind_function_no_gil([](uintptr_t handle, c10::DeviceIndex device) {
               return pack(getStreamFromExternal(reinterpret_cast<cudaStream_t>(handle), device));
             }),
             py::arg("handle"), py::arg("device"));
  module.def("_default_stream", wrap_pybind_function_no_gil([](c10::DeviceIndex device) {
               return pack(getDefaultStream(device));
             }));
  module.def("_current_stream", wrap_pybind_function_no_gil([](c10::DeviceIndex device) {
               return pack(getCurrentStream(device));
             }));
  module.def("_set_current_stream",
             wrap_pybind_function_no_gil([](int64_t stream_id, c10::DeviceIndex device) {
               setCurrentStream(Stream(unpack(stream_id, device)));
             }),
             py::arg("stream_id"), py::arg("device"));
  module.def("_stream_handle",
             wrap_pybind_function_no_gil([](int64_t stream_id, c10::DeviceIndex device) {
               return reinterpret_cast<uintptr_t>(Stream(unpack(stream_id, device)).stream());
             }),
             py::arg("stream_id"), py::arg("device"));
  module.def("_stream_priority",
             wrap_pybind_function_no_gil([](int64_t stream_id, c10::DeviceIndex device) {
               return Stream(unpack(stream_id, device)).priority();
             }),
             py::arg("stream_id"), py::arg("device"));
  module.def("_elapsed_time", torch::wrap_pybind_function(&elapsed_time), py::arg("start"),
             py::arg("end"));
  module.def("_stream_priority_range", wrap_pybind_function_no_gil(&priority_range));
}

}  // namespace anvil::python
