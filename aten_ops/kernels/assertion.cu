#include "aten_ops/kernels/assertion.h"

#include <cstring>

#include "aten_ops/kernels/device_check.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

struct Assertion {
  Pointer<const bool> condition;
  char message[256];

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { device_check(*condition, "an asserted condition is false", message); });
  }
};

void check_assertion(const bool* condition, const char* message, cudaStream_t stream) {
  Assertion kernel{condition, {}};
  std::strncpy(kernel.message, message, sizeof(kernel.message) - 1);
  launch<Assertion>("assertion", {.blocks = 1, .threads = 32}, stream, kernel);
}

const AssertionKernels assertion_kernels{.check = check_assertion};

}  // namespace anvil::kernels
