// Products and vector norms.
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/reduce_kernel.h"
#include "aten_ops/kernels/reduce_launchers.h"

namespace anvil::kernels {
namespace {

template <class V>
void norm(const Reduction& r, double p, cudaStream_t stream) {
  if (p == 2) {
    launch_reduce<AnyInput<V>>("norm_two", r, SquareNormOp<V>{}, stream);
  } else {
    launch_reduce<AnyInput<V>>("norm", r, NormOp<V>{static_cast<RealOf<V>>(p)}, stream);
  }
}

}  // namespace

void reduce_prod(const Reduction& r, cudaStream_t stream) {
  if (is_complex_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<Complex<double>>>("prod", r, ProdOp<Complex<double>>{}, stream);
  } else if (r.input_dtype == ScalarType::Double) {
    launch_reduce<AnyInput<double>>("prod", r, ProdOp<double>{}, stream);
  } else if (is_floating_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<float>>("prod", r, ProdOp<float>{}, stream);
  } else if (is_integral_dtype(r.input_dtype)) {
    launch_reduce<AnyInput<int64_t>>("prod", r, ProdOp<int64_t>{}, stream);
  } else {
    throw_not_implemented("prod", r.input_dtype);
  }
}

void reduce_norm(const Reduction& r, double p, cudaStream_t stream) {
  if (r.input_dtype == ScalarType::Float && p == 2) {
    launch_reduce<TypedInput<float>>("norm_two", r, SquareNormOp<float>{}, stream);
  } else if (is_complex_dtype(r.input_dtype)) {
    norm<Complex<double>>(r, p, stream);
  } else if (r.input_dtype == ScalarType::Double) {
    norm<double>(r, p, stream);
  } else if (is_floating_dtype(r.input_dtype)) {
    norm<float>(r, p, stream);
  } else {
    throw_not_implemented("norm", r.input_dtype);
  }
}

}  // namespace anvil::kernels
