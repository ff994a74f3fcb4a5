// The copies of native/Copy.cpp that need a kernel.
#include <ATen/native/Copy.h>

#include "aten_ops/kernels/copy.h"
#include "aten_ops/native/Loops.h"

namespace at::native {
namespace {

// Bits are copied as they are; Copy.cpp adjusts them.
void copy_kernel(TensorIterator& iter, bool /*non_blocking*/) {
  anvil::native::launch_as(iter, iter.dtype(1), anvil::kernels::table().copy.copy);
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(copy_stub, &copy_kernel)

}  // namespace at::native
