// From tensors to kernels::Reduction.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <c10/core/Allocator.h>

#include "aten_ops/kernels/reduce.h"

namespace anvil::native {

using ReduceFunction = void(const kernels::Reduction&, cudaStream_t);

// In which order positions are counted (argmax and its kin need the tensor's
// own), or whether they don't matter and the fastest order is taken.
enum class ReduceOrder { kAny, kLogical };

// The reduction of `self` over the dimensions in `mask` into `out` and, if it
// is defined, `second`. The outputs have the shape of the result, kept
// dimensions of size 1 included if `keepdim`. Holds pointers: the tensors must
// live until the kernel is enqueued. Throws if the dimensions cannot be merged
// into 16 (of each kind).
kernels::Reduction make_kernel_reduction(const at::Tensor& self,
                                         at::native::DimMask mask,
                                         bool keepdim,
                                         const at::Tensor& out,
                                         const at::Tensor& second,
                                         ReduceOrder order);

// Scratch memory for the reduction, of the current stream; sets `scratch`. Null
// if it needs none. Keep it until the kernel is enqueued.
c10::DataPtr allocate_scratch(kernels::Reduction& reduction);

// Runs `kernel` on the current stream. Nothing is launched for outputs without
// elements; `self` has elements.
void launch_reduction(ReduceFunction& kernel,
                      const at::Tensor& self,
                      at::OptionalIntArrayRef dims,
                      bool keepdim,
                      const at::Tensor& out,
                      const at::Tensor& second = {},
                      ReduceOrder order = ReduceOrder::kAny);

}  // namespace anvil::native
