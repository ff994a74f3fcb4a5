#include "backend/Generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstring>
#include <mutex>

#include "backend/Functions.h"

namespace anvil {
namespace {

constexpr int64_t kSeedBytes = sizeof(uint64_t);
constexpr int64_t kStateBytes = 2 * sizeof(uint64_t);

}  // namespace

GeneratorImpl::GeneratorImpl(c10::DeviceIndex device)
    : c10::GeneratorImpl{c10::Device(kDeviceType, device == -1 ? current_device() : device),
                         c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)},
      seed_(c10::default_rng_seed_val) {}

c10::DeviceType GeneratorImpl::device_type() { return kDeviceType; }

std::pair<uint64_t, uint64_t> GeneratorImpl::philox_engine_inputs(uint64_t increment) {
  const uint64_t offset = offset_;
  offset_ += (increment + 3) / 4 * 4;
  return {seed_, offset};
}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

void GeneratorImpl::set_offset(uint64_t offset) {
  TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4, but got ", offset,
              ": one Philox call makes four numbers.");
  offset_ = offset;
}

uint64_t GeneratorImpl::get_offset() const { return offset_; }

uint64_t GeneratorImpl::current_seed() const { return seed_; }

uint64_t GeneratorImpl::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom(/*is_cuda=*/true);
  set_current_seed(random);
  return random;
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  at::TensorBase state = at::detail::empty_cpu({kStateBytes}, at::kByte);
  auto* bytes = state.mutable_data_ptr<uint8_t>();
  std::memcpy(bytes, &seed_, sizeof(seed_));
  std::memcpy(bytes + kSeedBytes, &offset_, sizeof(offset_));
  return state.getIntrusivePtr();
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  const int64_t bytes = state.numel();
  // Without an offset: a state of CUDA's generator before it had offsets.
  TORCH_CHECK(bytes == kStateBytes || bytes == kSeedBytes, "RNG state is wrong size: ", bytes,
              " bytes, but a state of this device has ", kStateBytes, " (seed and offset) or ",
              kSeedBytes, " (seed).");
  const auto* data = state.data_dtype_initialized<uint8_t>();
  uint64_t seed = 0;
  uint64_t offset = 0;
  std::memcpy(&seed, data, sizeof(seed));
  if (bytes == kStateBytes) {
    std::memcpy(&offset, data + kSeedBytes, sizeof(offset));
  }
  set_offset(offset);
  seed_ = seed;
}

c10::intrusive_ptr<GeneratorImpl> GeneratorImpl::clone() const {
  return c10::intrusive_ptr<GeneratorImpl>::reclaim(clone_impl());
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto* copy = new GeneratorImpl(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& getDefaultGenerator(c10::DeviceIndex device) {
  struct PerDevice {
    std::once_flag created;
    at::Generator generator;
  };
  // Never destroyed: Python objects may still refer to them.
  static auto* generators = new std::array<PerDevice, kMaxDevices>();
  device = device_or_current(device);
  PerDevice& entry = (*generators)[device];
  std::call_once(entry.created, [&] { entry.generator = createGenerator(device); });
  return entry.generator;
}

at::Generator createGenerator(c10::DeviceIndex device) {
  return at::make_generator<GeneratorImpl>(device_or_current(device));
}

}  // namespace anvil
