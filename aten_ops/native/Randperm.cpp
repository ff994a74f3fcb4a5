// Random permutations with CUDA's numbers: positions sorted by random keys,
// then runs of equal keys shuffled. Keys are as wide as it takes to have no
// equal ones with a probability of 0.9 (the formula is PyTorch's).
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <limits>

#include "aten_ops/kernels/radix_sort.h"
#include "aten_ops/native/Loops.h"
#include "aten_ops/native/RandomGrid.h"
#include "generated/random_native.h"

namespace anvil::native {
namespace {

int key_bits(int64_t n) {
  const auto size = static_cast<double>(n);
  const double bits = std::ceil(std::log2(size - (6 * size * size + 1) / (12 * std::log(0.9))));
  return std::min(64, static_cast<int>(bits));
}

}  // namespace

at::Tensor& randperm_generator_out(int64_t n,
                                   std::optional<at::Generator> generator,
                                   at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  at::native::check_supported_max_int_with_precision(n, out);
  out.resize_({n});
  if (n == 0) {
    return out;
  }
  const int bits = key_bits(n);
  const bool narrow = bits <= 32;
  const auto options = out.options().dtype(narrow ? at::kInt : at::kLong);
  at::Tensor keys = at::empty({n}, options);
  if (narrow) {
    keys.random_(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), generator);
  } else {
    keys.random_(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                 generator);
  }
  const at::Tensor sorted_keys = at::empty({2, n}, options);
  const at::Tensor positions = at::empty({2, n}, out.options().dtype(at::kLong));
  const at::Tensor counts =
      at::empty({kernels::RadixSort::count_size(n)}, out.options().dtype(at::kLong));
  const kernels::RadixSort sort{.key_dtype = to_scalar_type(keys.scalar_type()),
                                .n = n,
                                .bits = bits,
                                .keys = keys.const_data_ptr(),
                                .sorted_keys = sorted_keys.data_ptr(),
                                .positions = positions.data_ptr<int64_t>(),
                                .other_keys = sorted_keys.select(0, 1).data_ptr(),
                                .other_positions = positions.select(0, 1).data_ptr<int64_t>(),
                                .counts = counts.data_ptr<int64_t>()};
  kernels::table().radix_sort.sort(sort, getCurrentStream());
  kernels::table().random.shuffle_equal_keys(
      sort.sorted_keys, sort.key_dtype, sort.positions, sizeof(int64_t), n, bits,
      philox_state(generator, static_cast<uint64_t>(n)), getCurrentStream());
  out.copy_(positions.select(0, 0));
  return out;
}

}  // namespace anvil::native
