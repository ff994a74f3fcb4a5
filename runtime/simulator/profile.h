// Named device profiles: what a simulated device says that it is.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

namespace anvil::simulator {

// The facts in which GPUs differ, from NVIDIA's data sheets and the table of
// compute capabilities in the CUDA C++ Programming Guide. Sizes in bytes.
struct Profile {
  const char* key;   // the value of ANVIL_SIMULATOR_PROFILE
  const char* name;  // cudaDeviceProp::name
  int major, minor;  // compute capability
  int multiprocessors;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  size_t memory;
  size_t shared_per_multiprocessor;
  size_t shared_per_block_optin;
  size_t l2_cache;
  int memory_bus_bits;
  int clock_khz;
  int memory_clock_khz;
};

// Null if there is none of that name.
const Profile* find_profile(std::string_view key);

// All keys, separated by ", ", for messages. Static storage.
const char* profile_keys();

void fill_properties(const Profile& profile, int device, size_t memory, cudaDeviceProp* properties);

// False for an attribute that the simulator does not know.
bool find_attribute(const Profile& profile, int device, cudaDeviceAttr attribute, int* value);

}  // namespace anvil::simulator
