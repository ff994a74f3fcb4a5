// Running sums, products and extrema.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/scan.h"
#include "aten_ops/native/Loops.h"
#include "backend/Stream.h"
#include "generated/reduction_native.h"

namespace anvil::native {
namespace {

kernels::ScanShape scan_shape(const at::Tensor& self, int64_t dim) {
  kernels::ScanShape shape{1, 1, 1};
  for (int64_t d = 0; d < self.dim(); ++d) {
    (d < dim ? shape.outer : d == dim ? shape.length : shape.inner) *= self.size(d);
  }
  return shape;
}

at::Tensor dense_output(const at::Tensor& out) {
  return out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
}
void copy_back(const at::Tensor& out, const at::Tensor& dense) {
  if (!out.is_same(dense)) {
    out.copy_(dense);
  }
}

using Scan = decltype(kernels::ScanKernels::cumsum);
using ScanWithIndices = decltype(kernels::ScanKernels::cummax);

// `self` has the output's dtype, and elements.
void scan(Scan kernel, const at::Tensor& self, int64_t dim, const at::Tensor& out) {
  const at::Tensor input = self.contiguous();
  const at::Tensor result = dense_output(out);
  kernel(input.const_data_ptr(), result.mutable_data_ptr(), to_scalar_type(out.scalar_type()),
         scan_shape(self, at::maybe_wrap_dim(dim, self.dim())), getCurrentStream());
  copy_back(out, result);
}

void scan_with_indices(ScanWithIndices kernel,
                       const at::Tensor& self,
                       int64_t dim,
                       const at::Tensor& values,
                       const at::Tensor& indices) {
  if (self.numel() == 0) {
    return;
  }
  const at::Tensor input = self.contiguous();
  const at::Tensor result = dense_output(values);
  const at::Tensor positions = dense_output(indices);
  kernel(input.const_data_ptr(), result.mutable_data_ptr(), positions.mutable_data_ptr(),
         to_scalar_type(self.scalar_type()), scan_shape(self, at::maybe_wrap_dim(dim, self.dim())),
         getCurrentStream());
  copy_back(values, result);
  copy_back(indices, positions);
}

}  // namespace

at::Tensor& _logcumsumexp_out(const at::Tensor& self, int64_t dim, at::Tensor& out) {
  at::maybe_wrap_dim(dim, self.dim());  // throws, for an empty tensor too
  at::native::resize_output(out, self.sizes());
  if (self.numel() != 0) {
    scan(kernels::table().scan.logcumsumexp, self.to(out.scalar_type()), dim, out);
  }
  return out;
}

at::Tensor _logcumsumexp(const at::Tensor& self, int64_t dim) {
  at::Tensor out = at::empty_like(self, at::MemoryFormat::Contiguous);
  _logcumsumexp_out(self, dim, out);
  return out;
}

void _cummax_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices, int64_t dim) {
  scan_with_indices(kernels::table().scan.cummax, self, dim, values, indices);
}
void _cummin_helper(const at::Tensor& self, at::Tensor& values, at::Tensor& indices, int64_t dim) {
  scan_with_indices(kernels::table().scan.cummin, self, dim, values, indices);
}

void cumsum_kernel(const at::Tensor& out, const at::Tensor& self, int64_t dim) {
  scan(kernels::table().scan.cumsum, self, dim, out);
}
void cumprod_kernel(const at::Tensor& out, const at::Tensor& self, int64_t dim) {
  scan(kernels::table().scan.cumprod, self, dim, out);
}

}  // namespace anvil::native

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(cumsum_stub, &anvil::native::cumsum_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(cumprod_stub, &anvil::native::cumprod_kernel)
}  // namespace at::native
