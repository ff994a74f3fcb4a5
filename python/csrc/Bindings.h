// The parts of the extension; each adds its functions to the module.
//
// Every function of the module that can block or raise errors of the device is
// wrapped with torch::wrap_pybind_function (errors and warnings become
// Python's), and with its _no_gil form if it can block.
#pragma once

#include <pybind11/pybind11.h>

namespace anvil::python {

void bind_device(pybind11::module_& module);
void bind_streams(pybind11::module_& module);
void bind_memory(pybind11::module_& module);
void bind_operators(pybind11::module_& module);
void bind_lifetime(pybind11::module_& module);

}  // namespace anvil::python
