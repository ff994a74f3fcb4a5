// Binary operators: ATen's stubs to the kernel table.
#include <ATen/native/BinaryOps.h>

#include <ATen/native/Pow.h>
#include <ATen/native/TensorFactories.h>

#include "aten_ops/kernels/binary.h"
#include "aten_ops/native/CheckedScalar.h"
#include "aten_ops/native/Loops.h"

namespace at::native {

// Stubs take TensorIterator or TensorIteratorBase.
#define ANVIL_BINARY_STUB(name, Iterator)                             \
  static void name##_kernel(Iterator& iter) {                         \
    anvil::native::launch(iter, anvil::kernels::table().binary.name); \
  }                                                                   \
  REGISTER_PRIVATEUSE1_DISPATCH(name##_stub, &name##_kernel)

ANVIL_BINARY_STUB(atan2, TensorIteratorBase)
ANVIL_BINARY_STUB(bitwise_and, TensorIteratorBase)
ANVIL_BINARY_STUB(bitwise_or, TensorIteratorBase)
ANVIL_BINARY_STUB(bitwise_xor, TensorIteratorBase)
ANVIL_BINARY_STUB(complex, TensorIterator)
ANVIL_BINARY_STUB(copysign, TensorIteratorBase)
ANVIL_BINARY_STUB(div_floor, TensorIteratorBase)
ANVIL_BINARY_STUB(div_true, TensorIteratorBase)
ANVIL_BINARY_STUB(div_trunc, TensorIteratorBase)
ANVIL_BINARY_STUB(eq, TensorIteratorBase)
ANVIL_BINARY_STUB(fmax, TensorIteratorBase)
ANVIL_BINARY_STUB(fmin, TensorIteratorBase)
ANVIL_BINARY_STUB(fmod, TensorIteratorBase)
ANVIL_BINARY_STUB(gcd, TensorIteratorBase)
ANVIL_BINARY_STUB(ge, TensorIteratorBase)
ANVIL_BINARY_STUB(gt, TensorIteratorBase)
ANVIL_BINARY_STUB(heaviside, TensorIteratorBase)
ANVIL_BINARY_STUB(hypot, TensorIteratorBase)
ANVIL_BINARY_STUB(lcm, TensorIteratorBase)
ANVIL_BINARY_STUB(le, TensorIteratorBase)
ANVIL_BINARY_STUB(logaddexp, TensorIteratorBase)
ANVIL_BINARY_STUB(logaddexp2, TensorIteratorBase)
ANVIL_BINARY_STUB(logical_and, TensorIterator)
ANVIL_BINARY_STUB(logical_or, TensorIterator)
ANVIL_BINARY_STUB(logical_xor, TensorIterator)
ANVIL_BINARY_STUB(lshift, TensorIteratorBase)
ANVIL_BINARY_STUB(lt, TensorIteratorBase)
ANVIL_BINARY_STUB(maximum, TensorIteratorBase)
ANVIL_BINARY_STUB(minimum, TensorIteratorBase)
ANVIL_BINARY_STUB(mul, TensorIteratorBase)
ANVIL_BINARY_STUB(ne, TensorIteratorBase)
ANVIL_BINARY_STUB(nextafter, TensorIteratorBase)
ANVIL_BINARY_STUB(polar, TensorIterator)
ANVIL_BINARY_STUB(remainder, TensorIteratorBase)
ANVIL_BINARY_STUB(rshift, TensorIteratorBase)
ANVIL_BINARY_STUB(xlog1py, TensorIteratorBase)
ANVIL_BINARY_STUB(xlogy, TensorIteratorBase)

static void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  anvil::native::launch(iter, anvil::kernels::table().binary.add,
                        anvil::native::to_compute_scalar(iter.common_dtype(), alpha));
}
REGISTER_PRIVATEUSE1_DISPATCH(add_stub, &add_kernel)

static void sub_kernel(TensorIteratorBase& iter, const Scalar& alpha) {
  anvil::native::launch(iter, anvil::kernels::table().binary.add,
                        anvil::native::to_compute_scalar(iter.common_dtype(), -alpha));
}
REGISTER_PRIVATEUSE1_DISPATCH(sub_stub, &sub_kernel)

static void pow_tensor_tensor_kernel(TensorIteratorBase& iter) {
  anvil::native::launch(iter, anvil::kernels::table().binary.pow);
}
REGISTER_PRIVATEUSE1_DISPATCH(pow_tensor_tensor_stub, &pow_tensor_tensor_kernel)

static void pow_tensor_scalar_kernel(TensorIteratorBase& iter, const Scalar& exponent) {
  anvil::native::launch(iter, anvil::kernels::table().binary.pow_scalar,
                        anvil::native::to_scalar_in(iter.common_dtype(), exponent));
}
REGISTER_PRIVATEUSE1_DISPATCH(pow_tensor_scalar_stub, &pow_tensor_scalar_kernel)

}  // namespace at::native
