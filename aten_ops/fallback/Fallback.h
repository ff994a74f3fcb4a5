// The CPU fallback: what happens to an operator that has no kernel.
//
// Its inputs are copied to the CPU (a synchronisation of the current stream),
// the CPU's kernel runs, and what it returned or changed is copied back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "backend/Macros.h"

namespace anvil {

enum class FallbackPolicy {
  kAllow,   // silent
  kWarn,    // warns once for each operator
  kForbid,  // an error that names the operator
};

// The policy of the process: the innermost scope, else ANVIL_FALLBACK
// (warn|allow|forbid, default warn). Throws on any other value.
ANVIL_API FallbackPolicy fallback_policy();

// Replaces the policy and returns the one that was set before; nullopt means
// that ANVIL_FALLBACK decides. For all threads, since autograd runs backward in
// its own. For scopes:
//   const auto before = exchange_fallback_policy(FallbackPolicy::kForbid);
//   ...
//   exchange_fallback_policy(before);
ANVIL_API std::optional<FallbackPolicy> exchange_fallback_policy(
    std::optional<FallbackPolicy> policy);

struct FallbackStats {
  uint64_t calls = 0;
  uint64_t bytes = 0;             // copied, both ways together
  uint64_t synchronizations = 0;  // times the calling thread waited for the device
};

// The operators that fell back since the start or the last reset, by name
// ("aten::cholesky_inverse").
ANVIL_API std::map<std::string, FallbackStats> fallback_stats();
ANVIL_API void reset_fallback_stats();

}  // namespace anvil
