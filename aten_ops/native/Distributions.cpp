// Random fills: DispatchStubs of upstream's in-place functions.
#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/UnaryOps.h>

#include <array>
#include <mutex>

#include "aten_ops/native/Loops.h"
#include "aten_ops/native/RandomGrid.h"
#include "backend/Functions.h"
#include "backend/Generator.h"
#include "backend/Stream.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil::native {
namespace {

struct Multiprocessors {
  int count = 0;
  int threads = 0;
};

Multiprocessors multiprocessors() {
  static std::mutex mutex;
  static std::array<Multiprocessors, 64> known;
  const c10::DeviceIndex device = current_device();
  const std::lock_guard lock(mutex);
  Multiprocessors& result = known.at(device);
  if (result.count == 0) {
    const auto& cuda = runtime::table();
    ANVIL_CUDA_CHECK(cuda.cudaDeviceGetAttribute(&result.threads,
                                                 cudaDevAttrMaxThreadsPerMultiProcessor, device));
    ANVIL_CUDA_CHECK(
        cuda.cudaDeviceGetAttribute(&result.count, cudaDevAttrMultiProcessorCount, device));
  }
  return result;
}

}  // namespace

kernels::RandomGrid random_grid(int64_t numel) {
  const Multiprocessors found = multiprocessors();
  return kernels::RandomGrid::of(numel, found.count, found.threads);
}

kernels::PhiloxState philox_state(const std::optional<at::Generator>& generator,
                                  uint64_t increment) {
  auto* impl = at::get_generator_or_default<GeneratorImpl>(generator, getDefaultGenerator());
  const c10::Device current(kDeviceType, current_device());
  TORCH_CHECK(impl->device() == current, "Expected a '", current, "' generator device but found '",
              impl->device(), "'");
  const std::lock_guard lock(impl->mutex_);
  const auto [seed, offset] = impl->philox_engine_inputs(increment);
  return {seed, offset};
}

namespace {

kernels::RandomOutput output_of(const at::TensorIteratorBase& iter) {
  kernels::RandomOutput output{.data = iter.data_ptr(0), .dtype = to_scalar_type(iter.dtype(0))};
  output.dims.count = iter.ndim();
  for (int d = 0; d < iter.ndim(); ++d) {
    output.dims.size[d] = iter.shape()[d];
    output.dims.stride[0][d] = iter.strides(0)[d] / iter.element_size(0);
  }
  return output;
}

// Fills the iterator's output with kernel(output, grid, state, arguments...,
// stream); `is_64_bit` says what the kernel draws.
template <class Kernel, class... Arguments>
void fill(at::TensorIteratorBase& iter,
          const std::optional<at::Generator>& generator,
          bool is_64_bit,
          Kernel& kernel,
          Arguments... arguments) {
  const int64_t numel = iter.numel();
  if (numel == 0) {
    return;
  }
  const kernels::RandomGrid grid = random_grid(numel);
  const kernels::PhiloxState state =
      philox_state(generator, grid.offset_increment(numel, kernels::RandomGrid::unroll(is_64_bit)));
  if (!iter.can_use_32bit_indexing()) {
    // As on CUDA, the parts draw from offsets of their own after this one.
    for (auto& part : iter.with_32bit_indexing()) {
      fill(part, generator, is_64_bit, kernel, arguments...);
    }
    return;
  }
  kernel(output_of(iter), grid, state, arguments..., getCurrentStream());
}

void check_floating(at::ScalarType dtype, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dtype == at::kFloat || dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16,
      "\"", name, "\" not implemented for '", dtype, "'");
}

void check_real(at::ScalarType dtype, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(!at::isComplexType(dtype), "\"", name, "\" not implemented for '",
                              dtype, "'");
}

bool draws_double(const at::TensorIteratorBase& iter) { return iter.dtype(0) == at::kDouble; }

void uniform(at::TensorIteratorBase& iter,
             double from,
             double to,
             std::optional<at::Generator> generator) {
  check_floating(iter.dtype(0), "uniform");
  fill(iter, generator, draws_double(iter), kernels::table().random.uniform, from, to);
}

void normal(const at::TensorBase& self,
            double mean,
            double std,
            std::optional<at::Generator> generator) {
  auto iter = at::TensorIterator::borrowing_nullary_op(self);
  check_floating(iter.dtype(0), "normal");
  fill(iter, generator, draws_double(iter), kernels::table().random.normal, mean, std);
}

void log_normal(at::TensorIteratorBase& iter,
                double mean,
                double std,
                std::optional<at::Generator> generator) {
  check_floating(iter.dtype(0), "log_normal");
  fill(iter, generator, draws_double(iter), kernels::table().random.log_normal, mean, std);
}

void cauchy(at::TensorIteratorBase& iter,
            double median,
            double sigma,
            std::optional<at::Generator> generator) {
  check_floating(iter.dtype(0), "cauchy");
  fill(iter, generator, draws_double(iter), kernels::table().random.cauchy, median, sigma);
}

void exponential(at::TensorIteratorBase& iter,
                 double lambda,
                 std::optional<at::Generator> generator) {
  TORCH_CHECK(at::isFloatingType(iter.dtype(0)),
              "Exponential distribution is a continuous probability distribution. dtype must be "
              "a floating point but you specified ",
              iter.dtype(0));
  check_floating(iter.dtype(0), "exponential");
  fill(iter, generator, draws_double(iter), kernels::table().random.exponential, lambda);
}

void geometric(at::TensorIteratorBase& iter, double p, std::optional<at::Generator> generator) {
  check_real(iter.dtype(0), "geometric");
  fill(iter, generator, draws_double(iter), kernels::table().random.geometric, p);
}

void bernoulli_scalar(const at::TensorBase& self,
                      const double p,
                      std::optional<at::Generator> generator) {
  auto iter = at::TensorIterator::borrowing_nullary_op(self);
  check_real(iter.dtype(0), "bernoulli");
  fill(iter, generator, draws_double(iter), kernels::table().random.bernoulli, p);
}

void bernoulli_tensor(const at::TensorBase& self,
                      const at::TensorBase& p,
                      std::optional<at::Generator> generator) {
  TORCH_CHECK(at::isFloatingType(p.scalar_type()),
              "expected probabilities tensor to have floating type, got ", p.scalar_type());
  check_real(self.scalar_type(), "bernoulli");
  // CUDA reserves ten offsets, which its generator rounds up.
  const kernels::PhiloxState state = philox_state(generator, 10);
  if (self.numel() == 0) {
    return;
  }
  const at::Tensor output(self);
  const at::ScalarType dtype = self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor probabilities =
      at::Tensor(p).to(self.device(), dtype).expand(self.sizes()).contiguous();
  kernels::RandomOutput description{.data = self.data_ptr(),
                                    .dtype = to_scalar_type(self.scalar_type())};
  // Elements are numbered in the order of the dimensions, whatever the strides.
  description.dims.count = static_cast<int>(self.dim());
  for (int64_t d = 0; d < self.dim(); ++d) {
    description.dims.size[d] = self.size(self.dim() - 1 - d);
    description.dims.stride[0][d] = self.stride(self.dim() - 1 - d);
  }
  kernels::table().random.bernoulli_tensor(description, probabilities.const_data_ptr(), state,
                                           getCurrentStream());
}

void random_from_to(at::TensorIteratorBase& iter,
                    const uint64_t range,
                    const int64_t base,
                    std::optional<at::Generator> generator) {
  check_real(iter.dtype(0), "random_from_to");
  const bool is_64_bit = range >= (uint64_t{1} << 28);
  fill(iter, generator, is_64_bit, kernels::table().random.random_from_to, range, base);
}

void random_full_range(at::TensorIteratorBase& iter, std::optional<at::Generator> generator) {
  const at::ScalarType dtype = iter.dtype(0);
  TORCH_CHECK(
      dtype == at::kLong || dtype == at::kDouble || dtype == at::kFloat || dtype == at::kBFloat16,
      "random_full_64_bits_range handles only int64, double, float and bfloat16");
  fill(iter, generator, true, kernels::table().random.random_full_range);
}

void random(at::TensorIteratorBase& iter, std::optional<at::Generator> generator) {
  const at::ScalarType dtype = iter.dtype(0);
  check_real(dtype, "random");
  fill(iter, generator, dtype == at::kDouble || dtype == at::kLong, kernels::table().random.random);
}

}  // namespace
}  // namespace anvil::native

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(uniform_stub, &::anvil::native::uniform)
REGISTER_PRIVATEUSE1_DISPATCH(normal_stub, &::anvil::native::normal)
REGISTER_PRIVATEUSE1_DISPATCH(log_normal_stub, &::anvil::native::log_normal)
REGISTER_PRIVATEUSE1_DISPATCH(cauchy_stub, &::anvil::native::cauchy)
REGISTER_PRIVATEUSE1_DISPATCH(exponential_stub, &::anvil::native::exponential)
REGISTER_PRIVATEUSE1_DISPATCH(geometric_stub, &::anvil::native::geometric)
REGISTER_PRIVATEUSE1_DISPATCH(bernoulli_scalar_stub, &::anvil::native::bernoulli_scalar)
REGISTER_PRIVATEUSE1_DISPATCH(bernoulli_tensor_stub, &::anvil::native::bernoulli_tensor)
REGISTER_PRIVATEUSE1_DISPATCH(random_from_to_stub, &::anvil::native::random_from_to)
REGISTER_PRIVATEUSE1_DISPATCH(random_full_64_bits_range_stub, &::anvil::native::random_full_range)
REGISTER_PRIVATEUSE1_DISPATCH(random_stub, &::anvil::native::random)

}  // namespace at::native
