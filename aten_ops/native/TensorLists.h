// Lists of tensors into the form that the foreach kernels take.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <initializer_list>
#include <vector>

#include "aten_ops/kernels/tensor_lists.h"

namespace anvil::native {

// The pointers of several lists. Owns what view() points to; the tensors must
// outlive the launch's enqueuing, not its execution.
class TensorListPointers {
 public:
  explicit TensorListPointers(std::initializer_list<at::TensorList> lists);

  // One scalar for each tensor, or the same for all.
  void set_scalars(at::ArrayRef<at::Scalar> scalars);
  void set_scalar(double scalar);

  kernels::TensorListsView view() const;

 private:
  int nlists_;
  std::vector<int64_t> numel_;
  std::vector<void*> data_;  // [nlists][count]
  std::vector<double> scalars_;
};

// Whether the kernels over lists can serve these tensors: a floating dtype that
// they have, one device, and what upstream's fast route asks for (the same
// sizes and dense strides across lists, no promotion by the scalars).
bool can_use_foreach_kernels(at::ArrayRef<at::TensorList> lists,
                             at::ArrayRef<at::Scalar> scalars = {});

// The device of the first tensor, made current by the caller's guard.
std::vector<at::Tensor> empty_like_each(at::TensorList tensors);

}  // namespace anvil::native
