#include "aten_ops/native/TensorLists.h"

#include <ATen/native/ForeachUtils.h>
#include <ATen/ops/empty_like.h>

namespace anvil::native {

TensorListPointers::TensorListPointers(std::initializer_list<at::TensorList> lists)
    : nlists_(static_cast<int>(lists.size())) {
  TORCH_INTERNAL_ASSERT(nlists_ <= kernels::kMaxTensorLists);
  const size_t count = lists.begin()->size();
  numel_.reserve(count);
  data_.reserve(count * lists.size());
  for (const at::Tensor& tensor : *lists.begin()) {
    numel_.push_back(tensor.numel());
  }
  for (const at::TensorList& list : lists) {
    for (const at::Tensor& tensor : list) {
      data_.push_back(const_cast<void*>(tensor.const_data_ptr()));
    }
  }
}

void TensorListPointers::set_scalars(at::ArrayRef<at::Scalar> scalars) {
  scalars_.clear();
  for (const at::Scalar& scalar : scalars) {
    scalars_.push_back(scalar.toDouble());
  }
}

void TensorListPointers::set_scalar(double scalar) { scalars_.assign(numel_.size(), scalar); }

kernels::TensorListsView TensorListPointers::view() const {
  kernels::TensorListsView view{.nlists = nlists_,
                                .count = static_cast<int64_t>(numel_.size()),
                                .numel = numel_.data(),
                                .scalars = scalars_.empty() ? nullptr : scalars_.data()};
  for (int list = 0; list < nlists_; ++list) {
    view.data[list] = data_.data() + list * numel_.size();
  }
  return view;
}

bool can_use_foreach_kernels(at::ArrayRef<at::TensorList> lists, at::ArrayRef<at::Scalar> scalars) {
  const at::Tensor& first = lists[0][0];
  switch (first.scalar_type()) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
      return first.device().type() == c10::DeviceType::PrivateUse1 &&
             at::native::can_use_fast_route(lists, scalars);
    default:
      return false;
  }
}

std::vector<at::Tensor> empty_like_each(at::TensorList tensors) {
  std::vector<at::Tensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    result.push_back(at::empty_like(tensor));
  }
  return result;
}

}  // namespace anvil::native
