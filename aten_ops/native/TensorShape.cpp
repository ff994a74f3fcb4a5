// Concatenation and roll.
#include <ATen/WrapDimUtils.h>
#include <ATen/native/TensorTransformations.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/roll.h>

#include "aten_ops/kernels/concat.h"
#include "aten_ops/native/Loops.h"
#include "generated/indexing_native.h"

namespace anvil::native {
namespace {

// A tensor [0] is skipped by cat, whatever the other shapes (legacy).
bool is_skipped(const at::Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

}  // namespace

TORCH_IMPL_FUNC(cat_out)
(const at::ITensorListRef& tensors,
 int64_t dim,
 int64_t valid,
 bool all_contiguous,
 bool all_same_dtype,
 bool all_same_sizes_and_stride,
 at::MemoryFormat memory_format,
 const at::Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  const auto materialized = tensors.materialize();
  // Contiguous tensors are matrices whose columns stand side by side: the rows
  // are the dimensions before `dim`. In channels_last that holds for the
  // dimensions in memory order.
  const bool channels_last = memory_format != at::MemoryFormat::Contiguous;
  bool as_columns = all_same_dtype && out.is_contiguous(memory_format) &&
                    out.scalar_type() == materialized[valid].get().scalar_type();
  for (const at::Tensor& tensor : materialized) {
    as_columns = as_columns && (is_skipped(tensor) || tensor.is_contiguous(memory_format)) &&
                 !tensor.is_conj() && !tensor.is_neg();
  }
  as_columns = as_columns && !out.is_conj() && !out.is_neg();
  if (!as_columns) {
    int64_t begin = 0;
    for (const at::Tensor& tensor : materialized) {
      if (!is_skipped(tensor)) {
        out.narrow(dim, begin, tensor.size(dim)).copy_(tensor);
        begin += tensor.size(dim);
      }
    }
    return;
  }
  kernels::Concat concat{.output = out.data_ptr()};
  at::DimVector order;  // of the dimensions in memory
  for (int64_t d = 0; d < out.dim(); ++d) {
    if (!channels_last || d != 1) {
      order.push_back(d);
    }
  }
  if (channels_last) {
    order.push_back(1);
  }
  int64_t inner = 1;
  concat.rows = 1;
  bool before = true;
  for (const int64_t d : order) {
    before = before && d != dim;
    (before ? concat.rows : inner) *= d == dim ? 1 : out.size(d);
  }
  concat.row_stride = inner * out.size(dim);
  int64_t column = 0;
  const auto flush = [&] {
    if (concat.count > 0) {
      kernels::table().concat.concat(concat, static_cast<int>(out.element_size()),
                                     getCurrentStream());
      concat.count = 0;
    }
  };
  for (const at::Tensor& tensor : materialized) {
    if (is_skipped(tensor) || tensor.numel() == 0) {
      continue;
    }
    if (concat.count == kernels::Concat::kMaxInputs) {
      flush();
    }
    concat.input[concat.count] = tensor.const_data_ptr();
    concat.length[concat.count] = inner * tensor.size(dim);
    concat.column[concat.count] = column;
    column += concat.length[concat.count];
    ++concat.count;
  }
  flush();
}

at::Tensor roll(const at::Tensor& self, at::IntArrayRef shifts, at::IntArrayRef dims) {
  if (dims.size() != 1 || shifts.size() != 1) {
    return at::native::roll_common(self, shifts, dims);
  }
  if (self.numel() == 0) {
    return self.clone(at::MemoryFormat::Preserve);
  }
  const int64_t dim = at::maybe_wrap_dim(dims[0], self.dim());
  const int64_t size = self.size(dim);
  const int64_t shift = ((shifts[0] % size) + size) % size;
  at::Tensor out = at::empty_like(self, LEGACY_CONTIGUOUS_MEMORY_FORMAT);
  out.narrow(dim, 0, shift).copy_(self.narrow(dim, size - shift, shift));
  out.narrow(dim, shift, size - shift).copy_(self.narrow(dim, 0, size - shift));
  return out;
}

}  // namespace anvil::native
