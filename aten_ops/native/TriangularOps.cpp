// Lower and upper triangles.
#include <ATen/core/Tensor.h>

#include "aten_ops/kernels/triangular.h"
#include "aten_ops/native/Loops.h"
#include "generated/indexing_native.h"

namespace anvil::native {
namespace {

void triangle(const at::Tensor& self, int64_t k, bool upper, const at::Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  kernels::Dims<2> dims;
  dims.count = static_cast<int>(self.dim());
  TORCH_CHECK(dims.count <= kernels::kMaxDims, upper ? "triu" : "tril",
              " is not supported for tensors with more than ", kernels::kMaxDims, " dimensions");
  for (int d = 0; d < dims.count; ++d) {
    const int64_t source = self.dim() - 1 - d;
    dims.size[d] = self.size(source);
    dims.stride[0][d] = out.stride(source);
    dims.stride[1][d] = self.stride(source);
  }
  kernels::table().triangular.triangle(dims, out.data_ptr(), self.const_data_ptr(),
                                       static_cast<int>(self.element_size()), upper, k,
                                       getCurrentStream());
}

}  // namespace

TORCH_IMPL_FUNC(tril_out)(const at::Tensor& self, int64_t diagonal, const at::Tensor& out) {
  triangle(self, diagonal, false, out);
}

TORCH_IMPL_FUNC(triu_out)(const at::Tensor& self, int64_t diagonal, const at::Tensor& out) {
  triangle(self, diagonal, true, out);
}

}  // namespace anvil::native
