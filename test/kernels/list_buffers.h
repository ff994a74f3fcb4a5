// Lists of tensors for kernels that work on many in one launch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aten_ops/kernels/tensor_lists.h"
#include "test/simt_checker/buffer.h"

namespace anvil::kernels {

// Tensors of `numel` elements each in every list. A list's values are given, and
// read back, one tensor after another.
template <class T>
class ListBuffers {
 public:
  explicit ListBuffers(std::vector<int64_t> numel) : numel_(std::move(numel)) {
    view_.count = static_cast<int64_t>(numel_.size());
    view_.numel = numel_.data();
  }
  ListBuffers(const ListBuffers&) = delete;
  ListBuffers& operator=(const ListBuffers&) = delete;

  void add(const std::string& name, const std::vector<T>& values) {
    std::vector<void*> data;
    auto next = values.begin();
    for (const int64_t n : numel_) {
      buffers_.push_back(
          std::make_unique<simt_checker::Buffer<T>>(name, std::vector<T>(next, next + n)));
      data.push_back(buffers_.back()->data());
      next += n;
    }
    add(std::move(data));
  }
  // A list that lies elsewhere.
  void add(std::vector<void*> data) {
    data_.push_back(std::make_unique<std::vector<void*>>(std::move(data)));
    view_.data[view_.nlists++] = data_.back()->data();
  }
  // Of the `list`th that was added with values.
  std::vector<T> values(size_t list) const {
    std::vector<T> result;
    for (size_t t = 0; t < numel_.size(); ++t) {
      const auto& buffer = *buffers_[list * numel_.size() + t];
      result.insert(result.end(), buffer.begin(), buffer.end());
    }
    return result;
  }
  const TensorListsView& view() const { return view_; }

 private:
  std::vector<int64_t> numel_;
  std::vector<std::unique_ptr<simt_checker::Buffer<T>>> buffers_;
  std::vector<std::unique_ptr<std::vector<void*>>> data_;
  TensorListsView view_;
};

}  // namespace anvil::kernels
