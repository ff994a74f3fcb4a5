// What the normalisations share in their checks.
#pragma once

#include <ATen/AccumulateType.h>
#include <ATen/core/Tensor.h>

#include <optional>

namespace anvil::native {

inline at::Tensor contiguous_or_undefined(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? tensor->contiguous() : at::Tensor();
}

inline const void* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}
inline void* mutable_data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

// The dtype of the parameters beside `input`: that of those which are defined,
// the input's if none is. Parameters have the input's dtype, or are float
// beside half and bfloat16.
inline at::ScalarType parameter_dtype(const char* name,
                                      const at::Tensor& input,
                                      std::initializer_list<const at::Tensor*> parameters) {
  std::optional<at::ScalarType> dtype;
  for (const at::Tensor* parameter : parameters) {
    if (!parameter->defined()) {
      continue;
    }
    const at::ScalarType found = parameter->scalar_type();
    TORCH_CHECK(dtype.value_or(found) == found, name, ": expected the parameters to have one ",
                "dtype, got ", *dtype, " and ", found);
    dtype = found;
  }
  const at::ScalarType input_dtype = input.scalar_type();
  const bool mixed = (input_dtype == at::kHalf || input_dtype == at::kBFloat16) &&
                     dtype.value_or(input_dtype) == at::kFloat;
  TORCH_CHECK(dtype.value_or(input_dtype) == input_dtype || mixed, name,
              ": expected the parameters to have the input's dtype ", input_dtype,
              ", or float beside half and bfloat16; got ", *dtype);
  return dtype.value_or(input_dtype);
}

// Statistics of half and bfloat16 are kept in float.
inline at::ScalarType statistics_dtype(const at::Tensor& input) {
  return at::toAccumulateType(input.scalar_type(), /*is_cuda=*/true);
}

}  // namespace anvil::native
