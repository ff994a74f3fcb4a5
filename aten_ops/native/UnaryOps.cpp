// Unary operators: ATen's stubs to the kernel table.
#include <ATen/native/UnaryOps.h>

#include <ATen/native/TensorCompare.h>

#include "aten_ops/kernels/unary.h"
#include "aten_ops/native/Loops.h"

namespace at::native {

// Not name##_kernel: upstream declares some of these.
#define ANVIL_UNARY_STUB(name)                                       \
  static void anvil_##name(TensorIteratorBase& iter) {               \
    anvil::native::launch(iter, anvil::kernels::table().unary.name); \
  }                                                                  \
  REGISTER_PRIVATEUSE1_DISPATCH(name##_stub, &anvil_##name)

ANVIL_FOR_EACH_UNARY_KERNEL(ANVIL_UNARY_STUB)

}  // namespace at::native
