#include "aten_ops/Environment.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "aten_ops/fallback/Fallback.h"

namespace anvil {
namespace {

// The value; empty is as if it were not set.
std::string_view value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void check_one_of(const char* name, std::initializer_list<std::string_view> allowed) {
  const std::string_view value = value_of(name);
  if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) {
    return;
  }
  std::string names;
  for (const std::string_view& one : allowed) {
    names += names.empty() ? "" : &one == allowed.end() - 1 ? " or " : ", ";
    names += one;
  }
  TORCH_CHECK_VALUE(false, name, "=", value, " is not known; use ", names);
}

void check_number(const char* name) {
  const std::string_view value = value_of(name);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  TORCH_CHECK_VALUE(value.empty() || (error == std::errc() && end == value.data() + value.size()),
                    name, "=", value, " is not allowed; use a whole number from 0 to 2**64 - 1");
}

}  // namespace

void check_environment() {
  static_cast<void>(fallback_policy());  // ANVIL_FALLBACK
  check_one_of("ANVIL_CPU_LEVEL", {"x86-64-v2", "x86-64-v3", "x86-64-v4"});
  check_one_of("ANVIL_SIMULATOR_BLAS", {"aten", "cublaslt"});
  check_number("ANVIL_BLOCK_ORDER");
}

}  // namespace anvil
