// What random kernels need of device and generator.
#pragma once

#include <ATen/core/Generator.h>

#include "aten_ops/kernels/random.h"

namespace anvil::native {

// PyTorch's grid for `numel` (> 0) elements on the current device: it depends
// on the number of multiprocessors, as CUDA's numbers do.
kernels::RandomGrid random_grid(int64_t numel);

// Takes `increment` offsets from `generator` (none: the current device's
// default one), under its lock. Throws if the generator is not Anvil's.
kernels::PhiloxState philox_state(const std::optional<at::Generator>& generator,
                                  uint64_t increment);

}  // namespace anvil::native
