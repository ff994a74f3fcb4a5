// The policy and the statistics of the fallback.
#include "aten_ops/fallback/Policy.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace anvil {

namespace {

// A FallbackPolicy, or kFromEnvironment.
constexpr int kFromEnvironment = -1;
std::atomic<int> process_policy{kFromEnvironment};

struct Statistics {
  std::mutex mutex;
  std::map<std::string, FallbackStats> operators;
};

// Never destroyed: operators may run while the process ends.
Statistics& statistics() {
  static auto* instance = new Statistics;
  return *instance;
}

FallbackPolicy policy_from_environment() {
  const char* value = std::getenv("ANVIL_FALLBACK");
  const std::string_view policy = value == nullptr ? "" : value;
  if (policy.empty() || policy == "warn") {
    return FallbackPolicy::kWarn;
  }
  if (policy == "allow") {
    return FallbackPolicy::kAllow;
  }
  TORCH_CHECK_VALUE(policy == "forbid", "ANVIL_FALLBACK is '", policy,
                    "', allowed: warn (once for each operator), "
                    "allow (silent), forbid (an error)");
  return FallbackPolicy::kForbid;
}

}  // namespace

FallbackPolicy fallback_policy() {
  // A bad value throws at every fallback, not only at the first.
  static const FallbackPolicy environment = policy_from_environment();
  const int policy = process_policy.load(std::memory_order_relaxed);
  return policy == kFromEnvironment ? environment : static_cast<FallbackPolicy>(policy);
}

std::optional<FallbackPolicy> exchange_fallback_policy(std::optional<FallbackPolicy> policy) {
  const int before = process_policy.exchange(policy ? static_cast<int>(*policy) : kFromEnvironment);
  if (before == kFromEnvironment) {
    return std::nullopt;
  }
  return static_cast<FallbackPolicy>(before);
}

std::map<std::string, FallbackStats> fallback_stats() {
  std::lock_guard lock(statistics().mutex);
  return statistics().operators;
}

void reset_fallback_stats() {
  std::lock_guard lock(statistics().mutex);
  statistics().operators.clear();
}

void count_fallback(const std::string& name, const FallbackStats& call) {
  std::lock_guard lock(statistics().mutex);
  FallbackStats& total = statistics().operators[name];
  total.calls += call.calls;
  total.bytes += call.bytes;
  total.synchronizations += call.synchronizations;
}

}  // namespace anvil
