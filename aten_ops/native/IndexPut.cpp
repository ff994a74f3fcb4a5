// index_put with the order of accumulation fixed: upstream calls this stub, and
// not index_put_stub, on devices that accumulate in parallel.
#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/TensorAdvancedIndexing.h>

#include "aten_ops/native/IndexWalk.h"

namespace anvil::native {
namespace {

// self[indices] as an elementwise walk: index tensors broadcast together, and a
// view of self with stride 0 in their place. See Note 2 in upstream's
// TensorAdvancedIndexing.cpp on where that place is.
struct PutWalk {
  at::Tensor self;
  std::vector<at::Tensor> indices;
  at::DimVector sizes, strides;  // of the indexed dimensions; strides in bytes

  PutWalk(at::Tensor tensor, const c10::List<std::optional<at::Tensor>>& list) {
    at::native::checkIndexTensorTypes(list, /*allow_int=*/true);
    auto expanded = at::native::expandTensors(tensor, list, /*ensure_same_device=*/true);
    expanded = at::expand_outplace(expanded);
    expanded.resize(tensor.dim());
    if (!at::native::hasContiguousSubspace(expanded)) {
      std::tie(tensor, expanded) = at::native::transposeToFront(tensor, expanded);
    }
    int64_t before = 0, after = 0;
    at::IntArrayRef index_shape;
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
      if (!expanded[dim].defined()) {
        ++(indices.empty() ? before : after);
        continue;
      }
      index_shape = expanded[dim].sizes();
      TORCH_CHECK_INDEX(tensor.size(dim) > 0 || expanded[dim].numel() == 0,
                        "index is out of bounds for dimension with size 0");
      indices.push_back(expanded[dim].to(tensor.device(), at::kLong));
      sizes.push_back(tensor.size(dim));
      strides.push_back(tensor.stride(dim) * static_cast<int64_t>(tensor.element_size()));
    }
    at::DimVector view_sizes(tensor.sizes().slice(0, before));
    at::DimVector view_strides(tensor.strides().slice(0, before));
    at::DimVector index_sizes(before, 1);
    for (const int64_t size : index_shape) {
      view_sizes.push_back(size);
      view_strides.push_back(0);
      index_sizes.push_back(size);
    }
    for (int64_t dim = tensor.dim() - after; dim < tensor.dim(); ++dim) {
      view_sizes.push_back(tensor.size(dim));
      view_strides.push_back(tensor.stride(dim));
      index_sizes.push_back(1);
    }
    self = tensor.as_strided(view_sizes, view_strides);
    for (at::Tensor& index : indices) {
      index = index.reshape(index_sizes);
    }
  }
};

void index_put_with_sort(at::Tensor& self,
                         const c10::List<std::optional<at::Tensor>>& indices,
                         const at::Tensor& value,
                         bool accumulate,
                         bool unsafe) {
  TORCH_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  const PutWalk walk(self, indices);
  TORCH_CHECK(at::is_expandable_to(value.sizes(), walk.self.sizes()),
              "shape mismatch: value tensor of shape ", value.sizes(),
              " cannot be broadcast to indexing result of shape ", walk.self.sizes());
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false).resize_outputs(false).check_all_same_dtype(false);
  config.add_output(walk.self).add_owned_const_input(value.to(self.device()));
  for (const at::Tensor& index : walk.indices) {
    config.add_const_input(index);
  }
  auto iter = config.build();
  index_put(iter, walk.sizes, walk.strides, accumulate);
}

}  // namespace
}  // namespace anvil::native

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(index_put_with_sort_stub, &::anvil::native::index_put_with_sort)

}  // namespace at::native
