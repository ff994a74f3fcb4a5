// Results of kernels that write dense memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

namespace anvil::native {

// Calls f(a contiguous tensor), which is `out` where that is contiguous; else
// copies it to `out`.
template <class F>
void with_contiguous_output(const at::Tensor& out, F f) {
  if (out.is_contiguous()) {
    f(out);
    return;
  }
  const at::Tensor result = at::empty(out.sizes(), out.options());
  f(result);
  out.copy_(result);
}

}  // namespace anvil::native
