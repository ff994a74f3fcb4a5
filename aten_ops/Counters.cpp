#include "aten_ops/Counters.h"

#include <mutex>
#include <vector>

#include "aten_ops/fallback/Fallback.h"

namespace anvil {

namespace {

// Filled while libraries load, read at any time. Never destroyed: operators may
// run while the process ends.
struct Registry {
  std::mutex mutex;
  std::vector<std::span<OperatorCounter>> counters;
};

Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

}  // namespace

void register_counters(std::span<OperatorCounter> counters) {
  std::lock_guard lock(registry().mutex);
  registry().counters.push_back(counters);
}

std::map<std::string, OperatorStats> operator_stats() {
  std::map<std::string, OperatorStats> stats;
  {
    std::lock_guard lock(registry().mutex);
    for (const auto counters : registry().counters) {
      for (const OperatorCounter& counter : counters) {
        const OperatorStats counted{.kernel = counter.kernels.load(std::memory_order_relaxed),
                                    .library = counter.libraries.load(std::memory_order_relaxed)};
        if (counted.kernel != 0 || counted.library != 0) {
          stats[counter.name] = counted;
        }
      }
    }
  }
  for (const auto& [name, fallback] : fallback_stats()) {
    stats[name].fallback = fallback.calls;
  }
  return stats;
}

void reset_operator_stats() {
  {
    std::lock_guard lock(registry().mutex);
    for (const auto counters : registry().counters) {
      for (OperatorCounter& counter : counters) {
        counter.kernels.store(0, std::memory_order_relaxed);
        counter.libraries.store(0, std::memory_order_relaxed);
      }
    }
  }
  reset_fallback_stats();
}

}  // namespace anvil
