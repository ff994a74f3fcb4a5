// How often each operator ran, and where.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "backend/Macros.h"

namespace anvil {

// The slot of one registered overload; generated code keeps them in static
// arrays and increments without ordering. Thread-safe.
struct OperatorCounter {
  const char* name;  // "aten::add.Tensor"
  std::atomic<uint64_t> kernels{0};
  std::atomic<uint64_t> libraries{0};

  void kernel() { kernels.fetch_add(1, std::memory_order_relaxed); }
  void library() { libraries.fetch_add(1, std::memory_order_relaxed); }
};

// Makes the slots visible to operator_stats(); they live as long as the
// process. Called by generated code when the library is loaded.
void register_counters(std::span<OperatorCounter> counters);

struct OperatorStats {
  uint64_t kernel = 0;    // calls served by a kernel of ours
  uint64_t library = 0;   // by a vendor library, or ATen's CPU code on the simulator's memory
  uint64_t fallback = 0;  // by a copy to the CPU and back
};

// The operators that ran since the start or the last reset, by name. Views,
// allocation and composite operators are not in it. Calls that other threads
// make meanwhile may or may not be counted.
ANVIL_API std::map<std::string, OperatorStats> operator_stats();
// Sets every counter to zero, those of the fallback too.
ANVIL_API void reset_operator_stats();

}  // namespace anvil
