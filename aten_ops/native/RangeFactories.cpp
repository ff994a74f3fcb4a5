// arange, linspace, range and eye.
#include <ATen/Dispatch_v2.h>
#include <ATen/native/RangeUtils.h>
#include <ATen/ops/empty_like.h>

#include "aten_ops/kernels/range.h"
#include "aten_ops/native/Loops.h"
#include "generated/range_native.h"

namespace anvil::native {
namespace {

// Resizes `out` to `size` and fills its elements in order through `fill`.
template <class F>
at::Tensor& fill_in_order(at::Tensor& out, int64_t size, F fill) {
  if (out.numel() != size) {
    if (out.numel() > 0) {
      TORCH_WARN("The number of elements in the out tensor of shape ", out.sizes(), " is ",
                 out.numel(), " which does not match the computed number of elements ", size,
                 ". Note that this may occur as a result of rounding error. The out tensor will "
                 "be resized to a tensor of shape (",
                 size, ",).");
    }
    out.resize_({size});
  }
  if (size == 0) {
    return out;
  }
  const at::Tensor dense =
      out.is_contiguous() ? out : at::empty_like(out, at::MemoryFormat::Contiguous);
  fill(dense.mutable_data_ptr(), to_scalar_type(out.scalar_type()));
  if (!dense.is_same(out)) {
    out.copy_(dense);
  }
  return out;
}

}  // namespace

at::Tensor& arange_start_out(const at::Scalar& start,
                             const at::Scalar& end,
                             const at::Scalar& step,
                             at::Tensor& out) {
  const int64_t size = out.scalar_type() == at::kLong
                           ? at::native::compute_arange_size<int64_t>(start, end, step)
                           : at::native::compute_arange_size<double>(start, end, step);
  return fill_in_order(out, size, [&](void* data, kernels::ScalarType dtype) {
    kernels::table().range.arange(data, dtype, size, to_scalar(start), to_scalar(step),
                                  getCurrentStream());
  });
}

at::Tensor& range_out(const at::Scalar& start,
                      const at::Scalar& end,
                      const at::Scalar& step,
                      at::Tensor& out) {
  at::native::arange_check_bounds(start, end, step);
  const double steps = (end.toDouble() - start.toDouble()) / step.toDouble();
  const auto size = static_cast<int64_t>(steps + 1);
  return fill_in_order(out, size, [&](void* data, kernels::ScalarType dtype) {
    kernels::table().range.arange(data, dtype, size, to_scalar(start), to_scalar(step),
                                  getCurrentStream());
  });
}

at::Tensor& linspace_out(const at::Scalar& start,
                         const at::Scalar& end,
                         int64_t steps,
                         at::Tensor& out) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  if (out.numel() != steps) {
    out.resize_({steps});
  }
  return fill_in_order(out, steps, [&](void* data, kernels::ScalarType dtype) {
    kernels::table().range.linspace(data, dtype, steps, to_scalar(start), to_scalar(end),
                                    getCurrentStream());
  });
}

at::Tensor& eye_m_out(int64_t n, int64_t m, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  TORCH_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  out.resize_({n, m});
  out.zero_();
  if (n > 0 && m > 0) {
    out.diagonal().fill_(1);
  }
  return out;
}

at::Tensor& eye_out(int64_t n, at::Tensor& out) { return eye_m_out(n, n, out); }

}  // namespace anvil::native
