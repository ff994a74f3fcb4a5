// fill_ and zero_.
#include <ATen/Dispatch_v2.h>
#include <ATen/native/Fill.h>

#include "aten_ops/kernels/fill.h"
#include "aten_ops/native/Loops.h"

namespace at::native {
namespace {

// The value as the output's dtype, checked for overflow as upstream's is.
void set_immediate(anvil::kernels::Operand& operand, ScalarType dtype, const Scalar& value) {
  operand.dtype = anvil::native::to_scalar_type(dtype);
  operand.is_immediate = true;
  AT_DISPATCH_V2(dtype, "fill", AT_WRAP([&] {
                   const auto element = value.to<scalar_t>();
                   std::memcpy(operand.immediate, &element, sizeof(element));
                 }),
                 AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX), kBool, kHalf, kBFloat16,
                 AT_EXPAND(AT_FLOAT8_TYPES), AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES));
}

void fill_kernel(TensorIterator& iter, const Scalar& value) {
  anvil::native::for_each_iterator(iter, iter.dtype(), [&](const anvil::kernels::Iterator& output) {
    anvil::kernels::Iterator iterator = output;
    iterator.noperands = 2;
    set_immediate(iterator.operands[1], iter.dtype(), value);
    std::memset(iterator.strides[1], 0, sizeof(iterator.strides[1]));
    anvil::kernels::table().fill.fill(iterator, anvil::getCurrentStream());
  });
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(fill_stub, &fill_kernel)

}  // namespace at::native
