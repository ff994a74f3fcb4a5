// What the fallback itself uses beside its public interface.
#pragma once

#include <string>

#include "aten_ops/fallback/Fallback.h"

namespace anvil {

// Adds one call to the statistics of an operator. Thread-safe.
void count_fallback(const std::string& name, const FallbackStats& call);

}  // namespace anvil
