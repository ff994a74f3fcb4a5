// Sums, means and products.
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/reduce_kernel.h"
#include "aten_ops/kernels/reduce_launchers.h"

namespace anvil::kernels {
namespace {

template <class Input>
void sum(const char* name, const Reduction& r, bool mean, cudaStream_t stream) {
  launch_reduce<Input>(name, r, SumOp<typename Input::Value>{mean}, stream);
}

void sum_or_mean(const char* name, const Reduction& r, bool mean, cudaStream_t stream) {
  switch (r.input_dtype) {
    case ScalarType::Float:
      return sum<TypedInput<float>>(name, r, mean, stream);
    case ScalarType::Half:
      return sum<TypedInput<Half>>(name, r, mean, stream);
    case ScalarType::BFloat16:
      return sum<TypedInput<BFloat16>>(name, r, mean, stream);
    case ScalarType::Double:
      return sum<TypedInput<double>>(name, r, mean, stream);
    case ScalarType::ComplexFloat:
    case ScalarType::ComplexDouble:
      return sum<AnyInput<Complex<double>>>(name, r, mean, stream);
    case ScalarType::Bool:
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Short:
    case ScalarType::Int:
    case ScalarType::Long:
      if (!mean) {
        return sum<AnyInput<int64_t>>(name, r, mean, stream);
      }
      break;
    default:
      break;
  }
  throw_not_implemented(name, r.input_dtype);
}

}  // namespace

void reduce_sum(const Reduction& r, cudaStream_t stream) { sum_or_mean("sum", r, false, stream); }
void reduce_mean(const Reduction& r, cudaStream_t stream) { sum_or_mean("mean", r, true, stream); }

void reduce_nansum(const Reduction& r, cudaStream_t stream) {
  if (r.input_dtype == ScalarType::Double) {
    launch_reduce<AnyInput<double>>("nansum", r, NanSumOp<double>{}, stream);
  } else if (is_floating_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<float>>("nansum", r, NanSumOp<float>{}, stream);
  } else {
    throw_not_implemented("nansum", r.input_dtype);
  }
}

}  // namespace anvil::kernels
