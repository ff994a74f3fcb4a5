#include "aten_ops/native/Loops.h"

#include <cstring>

namespace anvil::native {

#define ANVIL_CHECK_NUMBER(type, name, value)                 \
  static_assert(static_cast<int>(at::ScalarType::name) ==     \
                static_cast<int>(kernels::ScalarType::name)); \
  static_assert(sizeof(c10::impl::ScalarTypeToCPPTypeT<at::ScalarType::name>) == sizeof(type));
ANVIL_FOR_EACH_SCALAR_TYPE(ANVIL_CHECK_NUMBER)
#undef ANVIL_CHECK_NUMBER

kernels::ScalarType to_scalar_type(at::ScalarType dtype) {
  const auto result = static_cast<kernels::ScalarType>(dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(kernels::element_size(result) != 0,
                              "Anvil has no kernels for elements of type ", dtype);
  return result;
}

kernels::Scalar to_scalar(const c10::Scalar& scalar) {
  if (scalar.isComplex()) {
    const auto value = scalar.toComplexDouble();
    return kernels::Complex<double>(value.real(), value.imag());
  }
  if (scalar.isFloatingPoint()) {
    return scalar.toDouble();
  }
  if (scalar.type() == at::kUInt64) {
    return scalar.toUInt64();
  }
  return scalar.to<int64_t>();
}

kernels::Iterator to_iterator(const at::TensorIteratorBase& iter, at::ScalarType common) {
  kernels::Iterator result;
  TORCH_CHECK_NOT_IMPLEMENTED(iter.ndim() <= kernels::Iterator::kMaxDims,
                              "Anvil's kernels take up to ", kernels::Iterator::kMaxDims,
                              " dimensions that cannot be merged, got ", iter.ndim());
  TORCH_INTERNAL_ASSERT(iter.ntensors() <= kernels::Iterator::kMaxOperands);
  result.ndim = iter.ndim();
  result.noutputs = iter.noutputs();
  result.noperands = iter.ntensors();
  result.common_dtype =
      common == at::ScalarType::Undefined ? kernels::ScalarType::Undefined : to_scalar_type(common);
  const size_t bytes = sizeof(int64_t) * iter.ndim();
  std::memcpy(result.shape, iter.shape().data(), bytes);
  for (int k = 0; k < iter.ntensors(); ++k) {
    kernels::Operand& operand = result.operands[k];
    operand.dtype = to_scalar_type(iter.dtype(k));
    if (C10_UNLIKELY(k >= iter.noutputs() && iter.is_cpu_scalar(k))) {
      operand.is_immediate = true;
      std::memcpy(operand.immediate, iter.data_ptr(k), kernels::element_size(operand.dtype));
      std::memset(result.strides[k], 0, bytes);
      continue;
    }
    operand.data = iter.data_ptr(k);
    std::memcpy(result.strides[k], iter.strides(k).data(), bytes);
  }
  return result;
}

}  // namespace anvil::native
