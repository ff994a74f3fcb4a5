#include "aten_ops/native/Reduction.h"

#include <ATen/ops/empty_strided.h>

#include <algorithm>
#include <array>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/native/Loops.h"
#include "backend/CachingAllocator.h"
#include "backend/Stream.h"

namespace anvil::native {
namespace {

struct Dim {
  int64_t size;
  int64_t input;   // stride
  int64_t output;  // stride; 0 for a reduced dimension
};

// Drops dimensions of size 1 and merges neighbours that step as one. `dims` has
// the fastest first.
c10::SmallVector<Dim, 8> coalesce(const c10::SmallVector<Dim, 8>& dims) {
  c10::SmallVector<Dim, 8> merged;
  for (const Dim& dim : dims) {
    if (dim.size == 1) {
      continue;
    }
    if (!merged.empty()) {
      Dim& last = merged.back();
      if (dim.input == last.input * last.size && dim.output == last.output * last.size) {
        last.size *= dim.size;
        continue;
      }
    }
    merged.push_back(dim);
  }
  if (merged.empty()) {
    merged.push_back({1, 1, 1});
  }
  return merged;
}

template <int kOperands>
void fill(kernels::Dims<kOperands>& to, const c10::SmallVector<Dim, 8>& dims) {
  TORCH_CHECK(dims.size() <= kernels::kMaxDims, "a reduction over tensors of more than ",
              kernels::kMaxDims, " dimensions that cannot be merged is not supported; call ",
              ".contiguous() or reshape the tensor first");
  to.count = static_cast<int>(dims.size());
  for (int d = 0; d < to.count; ++d) {
    to.size[d] = dims[d].size;
    to.stride[0][d] = dims[d].input;
    if constexpr (kOperands > 1) {
      to.stride[1][d] = dims[d].output;
    }
  }
}

bool faster(const Dim& a, const Dim& b) {
  return a.input != b.input ? a.input < b.input : a.output < b.output;
}

}  // namespace

kernels::Reduction make_kernel_reduction(const at::Tensor& self,
                                         at::native::DimMask mask,
                                         bool keepdim,
                                         const at::Tensor& out,
                                         const at::Tensor& second,
                                         ReduceOrder order) {
  c10::SmallVector<Dim, 8> kept;
  c10::SmallVector<Dim, 8> reduced;
  const at::Tensor& shape = out.defined() ? out : second;
  int64_t out_dim = shape.dim();
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (mask[d]) {
      reduced.push_back({self.size(d), self.stride(d), 0});
      out_dim -= keepdim ? 1 : 0;
    } else {
      --out_dim;
      kept.push_back({self.size(d), self.stride(d), shape.stride(out_dim)});
    }
  }
  std::stable_sort(kept.begin(), kept.end(), faster);
  if (order == ReduceOrder::kAny) {
    std::stable_sort(reduced.begin(), reduced.end(), faster);
  }

  kernels::Reduction reduction;
  reduction.input = self.const_data_ptr();
  reduction.input_dtype = to_scalar_type(self.scalar_type());
  if (out.defined()) {
    reduction.output = out.mutable_data_ptr();
    reduction.output_dtype = to_scalar_type(out.scalar_type());
  }
  if (second.defined()) {
    reduction.second = second.mutable_data_ptr();
    reduction.second_dtype = to_scalar_type(second.scalar_type());
  }
  fill(reduction.kept, coalesce(kept));
  fill(reduction.reduced, coalesce(reduced));
  return reduction;
}

c10::DataPtr allocate_scratch(kernels::Reduction& reduction) {
  const size_t bytes = kernels::table().reduce.scratch_bytes(reduction);
  if (bytes == 0) {
    return {};
  }
  c10::DataPtr scratch = getDeviceAllocator()->allocate(bytes);
  reduction.scratch = scratch.get();
  return scratch;
}

void launch_reduction(ReduceFunction& kernel,
                      const at::Tensor& self,
                      at::OptionalIntArrayRef dims,
                      bool keepdim,
                      const at::Tensor& out,
                      const at::Tensor& second,
                      ReduceOrder order) {
  if ((out.defined() ? out : second).numel() == 0) {
    return;
  }
  // Outputs of two operands share their offsets.
  const bool same_strides =
      !out.defined() || !second.defined() || out.strides().equals(second.strides());
  const at::Tensor second_out =
      same_strides ? second : at::empty_strided(out.sizes(), out.strides(), second.options());
  kernels::Reduction reduction = make_kernel_reduction(
      self, at::native::make_dim_mask(dims, self.dim()), keepdim, out, second_out, order);
  const c10::DataPtr scratch = allocate_scratch(reduction);
  kernel(reduction, getCurrentStream());
  if (!same_strides) {
    second.copy_(second_out);
  }
}

}  // namespace anvil::native
