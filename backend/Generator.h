// The device generator: Philox4x32-10, with the state of CUDA's generator
// (16 bytes: seed and offset, as two little-endian 64-bit integers).
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "backend/Macros.h"

namespace anvil {

class ANVIL_API GeneratorImpl final : public c10::GeneratorImpl {
 public:
  // `device` -1 is the current device.
  explicit GeneratorImpl(c10::DeviceIndex device = -1);

  // Reserves `increment` Philox offsets for one launch (rounded up to a
  // multiple of 4, as CUDA's generator does) and returns (seed, offset before).
  // The caller holds mutex_, as with CUDA's generator.
  std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t increment);

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  c10::intrusive_ptr<GeneratorImpl> clone() const;
  static c10::DeviceType device_type();

 private:
  GeneratorImpl* clone_impl() const override;

  uint64_t seed_;
  uint64_t offset_ = 0;
};

// The default generator of `device` (-1: of the current device); one per
// device, made at first use, seeded with c10's default seed.
ANVIL_API const at::Generator& getDefaultGenerator(c10::DeviceIndex device = -1);
ANVIL_API at::Generator createGenerator(c10::DeviceIndex device = -1);

}  // namespace anvil
