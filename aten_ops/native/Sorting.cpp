// Sort and topk.
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/sort.h"
#include "aten_ops/native/Loops.h"
#include "backend/CachingAllocator.h"
#include "backend/Stream.h"
#include "generated/sorting_native.h"

namespace anvil::native {
namespace {

struct Sorted {
  at::Tensor values;
  at::Tensor indices;
};

// The sorted rows of `rows`, whose last dimension is sorted; contiguous.
Sorted sort_rows(const at::Tensor& rows, bool descending) {
  const at::Tensor input = rows.contiguous();
  Sorted result{at::empty(input.sizes(), input.options()),
                at::empty(input.sizes(), input.options().dtype(at::kLong))};
  const int64_t length = input.size(-1);
  const int64_t count = input.numel() / length;
  const kernels::ScalarType dtype = to_scalar_type(input.scalar_type());
  const auto& sort = kernels::table().sort;
  const size_t bytes = sort.scratch_bytes(dtype, count, length);
  const c10::DataPtr scratch = bytes == 0 ? c10::DataPtr() : getDeviceAllocator()->allocate(bytes);
  sort.sort(input.const_data_ptr(), result.values.mutable_data_ptr(),
            result.indices.mutable_data_ptr(), dtype, count, length, descending, scratch.get(),
            getCurrentStream());
  return result;
}

}  // namespace

TORCH_IMPL_FUNC(sort_values_stable)
(const at::Tensor& self,
 std::optional<bool> /*stable*/,
 int64_t dim,
 bool descending,
 const at::Tensor& values,
 const at::Tensor& indices) {
  if (self.numel() == 0) {
    return;
  }
  if (self.dim() == 0) {
    values.copy_(self);
    indices.zero_();
    return;
  }
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  const Sorted sorted = sort_rows(self.movedim(wrapped, -1), descending);
  values.copy_(sorted.values.movedim(-1, wrapped));
  indices.copy_(sorted.indices.movedim(-1, wrapped));
}

// Sorts whole rows: the k largest come out in order, whatever `sorted` says.
TORCH_IMPL_FUNC(topk_values)
(const at::Tensor& self,
 int64_t k,
 int64_t dim,
 bool largest,
 bool /*sorted*/,
 const at::Tensor& values,
 const at::Tensor& indices) {
  if (values.numel() == 0) {
    return;
  }
  if (self.dim() == 0) {
    values.copy_(self);
    indices.zero_();
    return;
  }
  const int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  const Sorted sorted = sort_rows(self.movedim(wrapped, -1), largest);
  values.copy_(sorted.values.narrow(-1, 0, k).movedim(-1, wrapped));
  indices.copy_(sorted.indices.narrow(-1, 0, k).movedim(-1, wrapped));
}

}  // namespace anvil::native
