// Counters of the operators and the policy of the CPU fallback.
#include "python/csrc/Bindings.h"

namespace anvil::python {

void bind_operators(pybind11::module_& module) { (void)module; }

}  // namespace anvil::python
