// Extrema, with and without their positions; any and all.
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/reduce_kernel.h"
#include "aten_ops/kernels/reduce_launchers.h"

namespace anvil::kernels {
namespace {

void extremum(const char* name, const Reduction& r, bool minimum, cudaStream_t stream) {
  if (r.input_dtype == ScalarType::Float) {
    launch_reduce<TypedInput<float>>(name, r, ExtremumOp<float>{minimum}, stream);
  } else if (r.input_dtype == ScalarType::Double) {
    launch_reduce<AnyInput<double>>(name, r, ExtremumOp<double>{minimum}, stream);
  } else if (is_floating_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<float>>(name, r, ExtremumOp<float>{minimum}, stream);
  } else if (is_integral_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<int64_t>>(name, r, ExtremumOp<int64_t>{minimum}, stream);
  } else {
    throw_not_implemented(name, r.input_dtype);
  }
}

void indexed(const char* name, const Reduction& r, bool minimum, cudaStream_t stream) {
  if (r.input_dtype == ScalarType::Double) {
    launch_reduce<AnyInput<double>>(name, r, IndexedExtremumOp<double>{minimum}, stream);
  } else if (is_floating_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<float>>(name, r, IndexedExtremumOp<float>{minimum}, stream);
  } else if (is_integral_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<int64_t>>(name, r, IndexedExtremumOp<int64_t>{minimum}, stream);
  } else {
    throw_not_implemented(name, r.input_dtype);
  }
}

void logic(const char* name, const Reduction& r, bool all, cudaStream_t stream) {
  if (r.input_dtype == ScalarType::Bool) {
    launch_reduce<TypedInput<bool>>(name, r, LogicOp{all}, stream);
  } else {
    launch_reduce<NonZeroInput>(name, r, LogicOp{all}, stream);
  }
}

}  // namespace

void reduce_max(const Reduction& r, cudaStream_t stream) { extremum("max", r, false, stream); }
void reduce_min(const Reduction& r, cudaStream_t stream) { extremum("min", r, true, stream); }
void reduce_max_with_index(const Reduction& r, cudaStream_t stream) {
  indexed("max_with_index", r, false, stream);
}
void reduce_min_with_index(const Reduction& r, cudaStream_t stream) {
  indexed("min_with_index", r, true, stream);
}
void reduce_any(const Reduction& r, cudaStream_t stream) { logic("any", r, false, stream); }
void reduce_all(const Reduction& r, cudaStream_t stream) { logic("all", r, true, stream); }

}  // namespace anvil::kernels
