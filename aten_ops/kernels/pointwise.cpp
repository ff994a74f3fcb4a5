#include "aten_ops/kernels/pointwise.h"

namespace anvil::kernels {

const PointwiseKernels pointwise_kernels{
#define ANVIL_MEMBER(name, ...) .name = pointwise::name,
    ANVIL_FOR_EACH_POINTWISE_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

}  // namespace anvil::kernels
