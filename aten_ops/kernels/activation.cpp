#include "aten_ops/kernels/activation.h"

namespace anvil::kernels {

const ActivationKernels activation_kernels{
#define ANVIL_MEMBER(name, ...) .name = activation::name,
    ANVIL_FOR_EACH_ACTIVATION_KERNEL(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

}  // namespace anvil::kernels
