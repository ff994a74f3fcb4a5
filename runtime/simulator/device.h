// A simulated device: its legacy stream and its state of health.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "runtime/simulator/config.h"
#include "runtime/simulator/stream.h"

namespace anvil::simulator {

struct Device {
  int index = 0;
  // The sticky error of the device's context; once set, it stays.
  std::atomic<cudaError_t> failed{cudaSuccess};
  // The primary context exists.
  std::atomic<bool> used{false};
  // Bit n: the context may access device n's memory.
  std::atomic<uint32_t> peers{0};

  // Guarded by the engine's lock.
  Stream legacy;
  uint64_t tickets = 0;     // given to work that the legacy stream orders
  int busy_blocking = 0;    // blocking streams with work
  Stream* gated = nullptr;  // streams whose head waits for that order
};

void make_devices(const Config& config);

// Precondition: 0 <= index < config.devices.
Device& device(int index);

// The same, for a call that needs the device's primary context: the first one
// makes it.
inline Device& use_device(int index) {
  Device& used = device(index);
  if (!used.used.load(std::memory_order_relaxed)) [[unlikely]] {
    used.used.store(true, std::memory_order_relaxed);
  }
  return used;
}

inline cudaError_t failure(const Device& device) {
  return device.failed.load(std::memory_order_acquire);
}
inline cudaError_t failure(int index) { return failure(device(index)); }

// The first failure stays.
void fail(Device& device, cudaError_t code);

}  // namespace anvil::simulator
