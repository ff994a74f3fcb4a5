// Devices: count, current one, properties, synchronisation.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

#include <array>
#include <cstdio>
#include <string>

#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/Generator.h"
#include "python/csrc/Bindings.h"
#include "runtime/table.h"

namespace anvil::python {
namespace {

namespace py = pybind11;

cudaDeviceProp properties_of(c10::DeviceIndex device) {
  check_device_index(device);
  cudaDeviceProp properties{};
  ANVIL_CHECK(runtime::table().cudaGetDeviceProperties(&properties, device));
  return properties;
}

// As torch.cuda prints it: 8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const cudaDeviceProp& properties) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned char>(properties.uuid.bytes[i]));
    text += digits.data();
  }
  return text;
}

std::string properties_text(const cudaDeviceProp& properties) {
  return "_AnvilDeviceProperties(name='" + std::string(properties.name) +
         "', major=" + std::to_string(properties.major) +
         ", minor=" + std::to_string(properties.minor) +
         ", total_memory=" + std::to_string(properties.totalGlobalMem >> 20) +
         "MB, multi_processor_count=" + std::to_string(properties.multiProcessorCount) + ")";
}

bool can_access_peer(c10::DeviceIndex device, c10::DeviceIndex peer) {
  check_device_index(device);
  check_device_index(peer);
  int possible = 0;
  ANVIL_CHECK(runtime::table().cudaDeviceCanAccessPeer(&possible, device, peer));
  return possible != 0;
}

void synchronize(c10::DeviceIndex device) {
  check_device_index(device);
  const c10::DeviceIndex before = exchange_device(device);
  try {
    device_synchronize();
  } catch (...) {
    set_device(before);
    throw;
  }
  set_device(before);
}

// The package keeps the result for the life of the process, as
// THPGenerator_initDefaultGenerator asks.
py::object default_generator(c10::DeviceIndex device) {
  return py::reinterpret_steal<py::object>(
      THPGenerator_initDefaultGenerator(getDefaultGenerator(device)));
}

int version_of(cudaError_t (*entry)(int*)) {
  int version = 0;
  ANVIL_CHECK(entry(&version));
  return version;
}

}  // namespace

void bind_device(py::module_& module) {
  using torch::wrap_pybind_function;
  using torch::wrap_pybind_function_no_gil;

  // Field names are those of torch.cuda's _CudaDeviceProperties. Local to this module: stock torch
  // binds the same struct.
  py::class_<cudaDeviceProp>(module, "_AnvilDeviceProperties", py::module_local())
      .def_property_readonly("name", [](const cudaDeviceProp& p) { return std::string(p.name); })
      .def_readonly("major", &cudaDeviceProp::major)
      .def_readonly("minor", &cudaDeviceProp::minor)
      .def_readonly("is_multi_gpu_board", &cudaDeviceProp::isMultiGpuBoard)
      .def_readonly("is_integrated", &cudaDeviceProp::integrated)
      .def_readonly("multi_processor_count", &cudaDeviceProp::multiProcessorCount)
      .def_readonly("total_memory", &cudaDeviceProp::totalGlobalMem)
      .def_readonly("max_threads_per_multi_processor", &cudaDeviceProp::maxThreadsPerMultiProcessor)
      .def_readonly("max_threads_per_block", &cudaDeviceProp::maxThreadsPerBlock)
      .def_readonly("regs_per_multiprocessor", &cudaDeviceProp::regsPerMultiprocessor)
      .def_readonly("shared_memory_per_block", &cudaDeviceProp::sharedMemPerBlock)
      .def_readonly("shared_memory_per_block_optin", &cudaDeviceProp::sharedMemPerBlockOptin)
      .def_readonly("shared_memory_per_multiprocessor", &cudaDeviceProp::sharedMemPerMultiprocessor)
      .def_readonly("warp_size", &cudaDeviceProp::warpSize)
      .def_readonly("L2_cache_size", &cudaDeviceProp::l2CacheSize)
      .def_readonly("memory_bus_width", &cudaDeviceProp::memoryBusWidth)
      .def_readonly("pci_bus_id", &cudaDeviceProp::pciBusID)
      .def_readonly("pci_device_id", &cudaDeviceProp::pciDeviceID)
      .def_readonly("pci_domain_id", &cudaDeviceProp::pciDomainID)
      .def_property_readonly("uuid", &uuid_text)
      .def("__repr__", &properties_text);

  module.def(
      "_device_count", [] { return static_cast<int>(device_count()); },
      py::call_guard<py::gil_scoped_release>());
  module.def("_device_count_ensure_non_zero", wrap_pybind_function_no_gil([] {
               return static_cast<int>(device_count_ensure_non_zero());
             }));
  module.def("_current_device",
             wrap_pybind_function([] { return static_cast<int>(current_device()); }));
  module.def("_check_device_index", wrap_pybind_function_no_gil(&check_device_index),
             py::arg("device"));
  module.def("_set_device", wrap_pybind_function_no_gil(&set_device), py::arg("device"));
  module.def("_exchange_device", wrap_pybind_function_no_gil([](c10::DeviceIndex device) {
               return static_cast<int>(exchange_device(device));
             }));
  module.def("_maybe_exchange_device", wrap_pybind_function_no_gil([](c10::DeviceIndex device) {
               return static_cast<int>(maybe_exchange_device(device));
             }));
  // Releases the GIL by itself, and does not ask for it again at the end of the process.
  module.def("_synchronize", wrap_pybind_function(&synchronize), py::arg("device"));
  module.def("_get_device_properties", wrap_pybind_function_no_gil(&properties_of),
             py::arg("device"));
  module.def("_can_access_peer", wrap_pybind_function_no_gil(&can_access_peer), py::arg("device"),
             py::arg("peer"));
  module.def("_get_default_generator", wrap_pybind_function(&default_generator), py::arg("device"));

  module.def("_driver_name",
             wrap_pybind_function_no_gil([] { return std::string(runtime::driver_name()); }));
  module.def("_driver_version", wrap_pybind_function_no_gil([] {
               return version_of(runtime::table().cudaDriverGetVersion);
             }));
  module.def("_runtime_version", wrap_pybind_function_no_gil([] {
               return version_of(runtime::table().cudaRuntimeGetVersion);
             }));
}

}  // namespace anvil::python
