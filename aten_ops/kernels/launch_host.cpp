#include "aten_ops/kernels/launch_host.h"

#include <cstdlib>

namespace anvil::kernels {

void register_kernel(const char* name,
                     void (*body)(const anvilLaunch*),
                     const size_t* argument_sizes) {
  const anvilKernel kernel{name, body, argument_sizes, 1};
  runtime::check(
      runtime::table().anvilSimulatorRegisterKernel(reinterpret_cast<const void*>(body), &kernel),
      name);
}

uint64_t block_order_seed() {
  static const uint64_t seed = [] {
    const char* value = std::getenv("ANVIL_BLOCK_ORDER");
    return value ? std::strtoull(value, nullptr, 10) : 0;
  }();
  return seed;
}

}  // namespace anvil::kernels
