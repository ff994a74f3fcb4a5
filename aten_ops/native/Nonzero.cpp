// Positions of non-zero elements, and selection by mask.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/_assert_async.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/where.h>

#include "aten_ops/kernels/nonzero.h"
#include "aten_ops/native/Loops.h"
#include "generated/indexing_native.h"

namespace anvil::native {
namespace {

// The counts before each block of `input` (contiguous, not empty), and the total.
at::Tensor count_blocks(const at::Tensor& input) {
  const int64_t blocks = kernels::NonzeroKernels::blocks(input.numel());
  at::Tensor counts = at::empty({blocks + 1}, input.options().dtype(at::kLong));
  kernels::table().nonzero.count(input.const_data_ptr(), to_scalar_type(input.scalar_type()),
                                 input.numel(), counts.data_ptr<int64_t>(), getCurrentStream());
  return counts;
}

std::tuple<at::Tensor, at::Tensor> expand_mask(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool || mask.scalar_type() == at::kByte,
              "masked_select: expected BoolTensor for mask");
  auto [expanded_mask, expanded_self] = at::expand_outplace(mask, self);
  return {expanded_mask->scalar_type() == at::kByte ? expanded_mask->to(at::kBool)
                                                    : at::Tensor(*expanded_mask),
          at::Tensor(*expanded_self)};
}

}  // namespace

at::Tensor& nonzero_out(const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == at::kLong, "Expected object of scalar type ", at::kLong,
              " as out, but got ", out.scalar_type());
  TORCH_CHECK(self.device() == out.device(),
              "expected self and out to be on the same device, but got out on ", out.device(),
              " and self on ", self.device());
  TORCH_CHECK(self.dim() <= 16, "nonzero is not supported for tensor with more than 16 dimensions");
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  const at::Tensor input = self.contiguous();
  at::Tensor counts;
  int64_t total = 0;
  if (input.numel() > 0) {
    counts = count_blocks(input);
    // The one wait: the size of the result. item() releases the GIL.
    total = counts.select(0, counts.numel() - 1).item<int64_t>();
  }
  // Column-major, as on CUDA: each coordinate is one run.
  at::Tensor result = at::empty({self.dim(), total}, out.options()).t();
  if (total > 0 && self.dim() > 0) {
    kernels::table().nonzero.write(
        input.const_data_ptr(), to_scalar_type(input.scalar_type()), input.numel(),
        counts.const_data_ptr<int64_t>(), static_cast<int>(self.dim()), self.sizes().data(),
        result.data_ptr<int64_t>(), result.stride(0), result.stride(1), getCurrentStream());
  }
  if (out.numel() > 0 && out.sizes() == result.sizes()) {
    out.copy_(result);
  } else if (out.numel() == 0) {
    out.set_(result);
  } else {
    out.resize_(result.sizes());
    out.copy_(result);
  }
  return out;
}

at::Tensor nonzero(const at::Tensor& self) {
  at::Tensor out = at::empty({0}, self.options().dtype(at::kLong));
  return native::nonzero_out(self, out);
}

at::Tensor& masked_select_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(),
              "masked_select(): self and result must have the same scalar type");
  const auto [expanded_mask, expanded_self] = expand_mask(self, mask);
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  c10::List<std::optional<at::Tensor>> indices;
  // A tensor without dimensions has one element to select or not.
  const bool scalar = expanded_self.dim() == 0;
  indices.push_back(scalar ? expanded_mask.unsqueeze(0) : expanded_mask);
  at::index_out(out, scalar ? expanded_self.unsqueeze(0) : expanded_self, indices);
  return out;
}

at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask) {
  at::Tensor out = at::empty({0}, self.options());
  return native::masked_select_out(self, mask, out);
}

at::Tensor& masked_scatter_(at::Tensor& self, const at::Tensor& mask, const at::Tensor& source) {
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ",
              self.scalar_type(), " and ", source.scalar_type());
  TORCH_CHECK(mask.scalar_type() == at::kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  const at::Tensor where = mask.expand(self.sizes()).contiguous();
  if (self.numel() == 0) {
    return self;
  }
  const at::Tensor counts = count_blocks(where);
  at::Tensor position = at::empty(where.sizes(), where.options().dtype(at::kLong));
  kernels::table().nonzero.prefix(where.const_data_ptr(), to_scalar_type(at::kBool), where.numel(),
                                  counts.const_data_ptr<int64_t>(), position.data_ptr<int64_t>(),
                                  getCurrentStream());
  at::_assert_async(counts.select(0, counts.numel() - 1).le(source.numel()),
                    "masked_scatter_: expected the source to have at least as many elements as "
                    "the mask selects");
  if (source.numel() == 0) {
    return self;
  }
  // Elements that are not selected read the last source element, and drop it.
  const at::Tensor taken =
      source.contiguous().view(-1).index_select(0, position.view(-1).clamp_max(source.numel() - 1));
  self.copy_(at::where(where, taken.view(self.sizes()), self));
  return self;
}

}  // namespace anvil::native
