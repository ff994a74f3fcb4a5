#include "runtime/simulator/config.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/simulator/injection.h"

namespace anvil::simulator {
namespace {

// Null if the variable is unset or empty.
const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

bool parse_number(const char* text, uint64_t* value, const char** rest) {
  if (*text < '0' || *text > '9') {
    return false;
  }
  errno = 0;
  char* end = nullptr;
  *value = std::strtoull(text, &end, 10);
  *rest = end;
  return errno == 0;
}

bool parse_whole_number(const char* text, uint64_t low, uint64_t high, uint64_t* value) {
  const char* rest = nullptr;
  return parse_number(text, value, &rest) && *rest == '\0' && *value >= low && *value <= high;
}

// "8589934592", "8192MiB", "8GiB"; K, M, G, T with or without B or iB.
bool parse_bytes(const char* text, uint64_t* value) {
  const char* rest = nullptr;
  if (!parse_number(text, value, &rest)) {
    return false;
  }
  constexpr char kUnits[] = "KMGT";
  const char* unit = *rest ? std::strchr(kUnits, *rest) : nullptr;
  if (unit) {
    const int shift = static_cast<int>(unit - kUnits + 1) * 10;
    if (*value > (UINT64_MAX >> shift)) {
      return false;
    }
    *value <<= shift;
    ++rest;
    if (*rest == 'i') {
      ++rest;
    }
  }
  if (*rest == 'B') {
    ++rest;
  }
  return *rest == '\0';
}

}  // namespace

bool read_device_count(int* devices) {
  const char* value = variable("ANVIL_SIMULATOR_DEVICES");
  uint64_t number = 0;
  if (value == nullptr) {
    return true;
  }
  if (!parse_whole_number(value, 0, kMaxDevices, &number)) {
    return false;
  }
  *devices = static_cast<int>(number);
  return true;
}

bool read_config(Config* config, char* why, size_t why_size) {
  const auto refuse = [&](const char* name, const char* value, const char* allowed) {
    std::snprintf(why, why_size, "%s=%s is not allowed; use %s", name, value, allowed);
    return false;
  };
  uint64_t number = 0;

  if (!read_device_count(&config->devices)) {
    return refuse("ANVIL_SIMULATOR_DEVICES", variable("ANVIL_SIMULATOR_DEVICES"),
                  "a number from 0 to 16");
  }
  const char* profile = variable("ANVIL_SIMULATOR_PROFILE");
  config->profile = find_profile(profile ? profile : "h100");
  if (config->profile == nullptr) {
    char allowed[128];
    std::snprintf(allowed, sizeof(allowed), "one of %s", profile_keys());
    return refuse("ANVIL_SIMULATOR_PROFILE", profile, allowed);
  }
  if (const char* value = variable("ANVIL_SIMULATOR_MEMORY")) {
    constexpr uint64_t kSmallest = uint64_t{1} << 20;
    constexpr uint64_t kLargest = uint64_t{1} << 42;
    if (!parse_bytes(value, &number) || number < kSmallest || number > kLargest) {
      return refuse("ANVIL_SIMULATOR_MEMORY", value,
                    "a number of bytes for each device from 1MiB to 4TiB, such as 8GiB");
    }
    config->memory = number;
  }
  if (const char* value = variable("ANVIL_SIMULATOR_THREADS")) {
    if (!parse_whole_number(value, 1, 256, &number)) {
      return refuse("ANVIL_SIMULATOR_THREADS", value, "a number from 1 to 256");
    }
    config->threads = static_cast<int>(number);
  }
  if (const char* value = variable("ANVIL_SIMULATOR_INLINE")) {
    if (!parse_whole_number(value, 0, 1, &number)) {
      return refuse("ANVIL_SIMULATOR_INLINE", value, "0 or 1");
    }
    config->run_inline = number == 1;
  }
  if (const char* value = variable("ANVIL_SIMULATOR_SCHEDULE")) {
    if (!parse_whole_number(value, 0, UINT64_MAX, &number)) {
      return refuse("ANVIL_SIMULATOR_SCHEDULE", value, "a whole number, the seed");
    }
    config->adversarial = true;
    config->seed = number;
  }
  if (const char* value = variable("ANVIL_SIMULATOR_FAULTS")) {
    if (!set_faults(value, why, why_size)) {
      return false;
    }
  }
  if (const char* value = variable("ANVIL_SIMULATOR_KERNELS")) {
    config->count_kernels = std::strcmp(value, "count") == 0;
    if (!config->count_kernels && std::strcmp(value, "refuse") != 0) {
      return refuse("ANVIL_SIMULATOR_KERNELS", value, "refuse or count");
    }
  }
  if (config->adversarial && config->run_inline) {
    return refuse("ANVIL_SIMULATOR_INLINE", "1",
                  "it without ANVIL_SIMULATOR_SCHEDULE: work that runs at enqueue has no schedule");
  }
  return true;
}

}  // namespace anvil::simulator
