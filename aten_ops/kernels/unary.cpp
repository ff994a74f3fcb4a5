#include "aten_ops/kernels/unary.h"

namespace anvil::kernels {

const UnaryKernels unary_kernels{
#define ANVIL_MEMBER(name) .name = unary::name,
    ANVIL_FOR_EACH_UNARY_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

}  // namespace anvil::kernels
