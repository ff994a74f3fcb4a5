#include "aten_ops/kernels/binary.h"

namespace anvil::kernels {

const BinaryKernels binary_kernels{
#define ANVIL_MEMBER(name) .name = binary::name,
    ANVIL_FOR_EACH_BINARY_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
        .add = binary::add,
    .pow_scalar = binary::pow_scalar,
};

}  // namespace anvil::kernels
