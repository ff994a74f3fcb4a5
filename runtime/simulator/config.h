// The simulator's configuration: environment variables, read once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/simulator/profile.h"

namespace anvil::simulator {

constexpr int kMaxDevices = 16;

struct Config {
  int devices = 2;                   // ANVIL_SIMULATOR_DEVICES
  const Profile* profile = nullptr;  // ANVIL_SIMULATOR_PROFILE
  size_t memory = 0;                 // ANVIL_SIMULATOR_MEMORY, bytes; 0: choose
  int threads = 0;                   // ANVIL_SIMULATOR_THREADS; 0: choose
  bool run_inline = false;           // ANVIL_SIMULATOR_INLINE
  bool adversarial = false;          // ANVIL_SIMULATOR_SCHEDULE is set
  uint64_t seed = 0;                 // its value
  bool count_kernels = false;        // ANVIL_SIMULATOR_KERNELS=count
};

// ANVIL_SIMULATOR_DEVICES alone: unset leaves `devices`; false if it is bad.
bool read_device_count(int* devices);

// Reads the environment. False if a value is bad: then `why` says which
// variable, its value and what is allowed, in one line.
bool read_config(Config* config, char* why, size_t why_size);

}  // namespace anvil::simulator
