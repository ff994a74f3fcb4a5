// torch_anvil._C: what the package needs of libanvil and torch offers no binding for.
#include "python/csrc/Bindings.h"

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  using namespace anvil::python;
  bind_lifetime(module);
  bind_device(module);
  bind_streams(module);
  bind_memory(module);
  bind_operators(module);
}
