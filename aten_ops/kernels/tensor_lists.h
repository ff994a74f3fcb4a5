// Lists of tensors as the argument of one launch.
//
// A launch over many small tensors takes its pointers by value: as many tensors
// and chunks as fit into the 4 KiB that a kernel's arguments may have (CUDA C++
// Programming Guide, "__global__ function parameters"). A block works on one
// chunk of one tensor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

inline constexpr int kMaxTensorLists = 6;
inline constexpr int64_t kTensorChunk = 65536;  // elements

// What the glue gives: `count` tensors in each of `nlists` lists. Tensors of one
// index have `numel[index]` elements in every list, stored densely in one order.
// Borrowed for the call.
struct TensorListsView {
  int nlists = 0;
  int64_t count = 0;
  const int64_t* numel = nullptr;
  void* const* data[kMaxTensorLists] = {};  // [nlists][count], device addresses
  const double* scalars = nullptr;          // [count], or null: zeros
};

// The part of a view that one launch covers. `S` is the type of the scalars.
template <int kLists, class S>
struct TensorLists {
  static constexpr int kMaxBlocks = 320;
  static constexpr int kMaxTensors = (4096 - 256 - kMaxBlocks * 5) / (8 * kLists + 8 + sizeof(S));
  static_assert(kMaxTensors < 256, "the tensor of a block is a byte");

  Pointer<char> data[kLists][kMaxTensors];
  int64_t numel[kMaxTensors];
  S scalars[kMaxTensors];
  int32_t chunk_of_block[kMaxBlocks];
  uint8_t tensor_of_block[kMaxBlocks];

  // The chunk of one block.
  struct Chunk {
    int tensor;
    int64_t begin;  // first element
    int64_t size;   // elements
  };
  ANVIL_DEVICE Chunk chunk(int64_t block) const {
    const int tensor = tensor_of_block[block];
    const int64_t begin = chunk_of_block[block] * kTensorChunk;
    const int64_t left = numel[tensor] - begin;
    return {tensor, begin, left < kTensorChunk ? left : kTensorChunk};
  }
  template <class T>
  ANVIL_DEVICE T* at(int list, const Chunk& chunk) const {
    return reinterpret_cast<T*>(data[list][chunk.tensor].get()) + chunk.begin;
  }
};

// Cuts `view` into launches and calls `enqueue(lists, blocks)` for each.
template <int kLists, class S, class Enqueue>
void for_each_launch(const TensorListsView& view, Enqueue enqueue) {
  using Lists = TensorLists<kLists, S>;
  Lists lists;
  int tensors = 0;
  int blocks = 0;
  const auto flush = [&] {
    if (blocks > 0) {
      enqueue(static_cast<const Lists&>(lists), blocks);
    }
    tensors = 0;
    blocks = 0;
  };
  for (int64_t index = 0; index < view.count; ++index) {
    const int64_t chunks = (view.numel[index] + kTensorChunk - 1) / kTensorChunk;
    for (int64_t chunk = 0; chunk < chunks;) {
      if (tensors == Lists::kMaxTensors || blocks == Lists::kMaxBlocks) {
        flush();
      }
      for (int list = 0; list < kLists; ++list) {
        lists.data[list][tensors] = Pointer<char>(static_cast<char*>(view.data[list][index]));
      }
      lists.numel[tensors] = view.numel[index];
      lists.scalars[tensors] = view.scalars ? static_cast<S>(view.scalars[index]) : S(0);
      for (; chunk < chunks && blocks < Lists::kMaxBlocks; ++chunk, ++blocks) {
        lists.chunk_of_block[blocks] = static_cast<int32_t>(chunk);
        lists.tensor_of_block[blocks] = static_cast<uint8_t>(tensors);
      }
      ++tensors;
    }
  }
  flush();
}

}  // namespace anvil::kernels
