// The entry points, counted. Sees no header of cuBLAS.
#pragma once

#include <atomic>
#include <cstdint>

namespace anvil::simulator::blas {

// One entry point. Lives in static storage and is constant-initialised: calls
// come before constructors and after destructors.
struct Call {
  const char* name;
  std::atomic<uint64_t> count{0};
  std::atomic<bool> is_listed{false};
  std::atomic<bool> has_kernel{false};  // known to the simulator under this address
  Call* next = nullptr;
};

void count(Call& call);

}  // namespace anvil::simulator::blas
