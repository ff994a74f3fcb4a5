#include "runtime/simulator/injection.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "runtime/simulator/config.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/error.h"
#include "runtime/simulator/extension.h"
#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"

namespace anvil::simulator {

constinit std::atomic<bool> faults_planned{false};

namespace {

enum class Kind { kFunction, kAnyFunction, kKernel, kDevice };

struct Fault {
  Kind kind;
  char function[64];
  int device;
  uint64_t at;       // the count at which it strikes
  cudaError_t code;  // with which
  uint64_t seen;
};

constexpr size_t kMaxFaults = 32;

struct Plan {
  Fault faults[kMaxFaults];
  size_t size;
};

constinit std::mutex mutex;  // guards `plan` and `calls`
constinit Plan plan{};
constinit uint64_t calls = 0;  // of any function since the plan was set

// All but those that report, those that answer without a device, and what nvcc's
// code calls.
bool may_fail(std::string_view name) {
  constexpr std::string_view kNever[] = {"cudaGetLastError",     "cudaPeekAtLastError",
                                         "cudaGetErrorName",     "cudaGetErrorString",
                                         "cudaDriverGetVersion", "cudaRuntimeGetVersion"};
  return name.starts_with("cuda") &&
         std::find(std::begin(kNever), std::end(kNever), name) == std::end(kNever);
}

// Whether this library exports a function of that name.
bool exported(const char* name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&exported), &info) == 0) {
    return false;
  }
  void* self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const bool found = self != nullptr && dlsym(self, name) != nullptr;
  if (self != nullptr) {
    dlclose(self);
  }
  return found;
}

// Null, or what is wrong with the text of one fault.
const char* parse(std::string_view text, Fault* fault) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return "it has no @N";
  }
  const std::string_view target = text.substr(0, at);
  const size_t equals = text.find('=', at);
  char number[24] = "";
  text.substr(at + 1, equals == std::string_view::npos ? equals : equals - at - 1)
      .copy(number, sizeof(number) - 1);
  char* rest = nullptr;
  fault->at = std::strtoull(number, &rest, 10);
  if (*number < '0' || *number > '9' || *rest != '\0' || fault->at == 0) {
    return "N must be a number from 1 on";
  }
  fault->seen = 0;

  if (target == "*") {
    fault->kind = Kind::kAnyFunction;
  } else if (target == "kernel") {
    fault->kind = Kind::kKernel;
  } else if (target.starts_with("device")) {
    char index[4] = "";
    target.substr(6).copy(index, sizeof(index) - 1);
    fault->kind = Kind::kDevice;
    fault->device = std::atoi(index);
    if (*index < '0' || *index > '9' || fault->device >= kMaxDevices) {
      return "there is no such device";
    }
  } else {
    if (target.size() >= sizeof(fault->function)) {
      return "there is no such function";
    }
    fault->kind = Kind::kFunction;
    fault->function[target.copy(fault->function, target.size())] = '\0';
    if (!exported(fault->function)) {
      return "there is no such function";
    }
    if (!may_fail(target)) {
      return "this function never fails";
    }
  }

  if (equals == std::string_view::npos) {
    fault->code = cudaErrorUnknown;
    return fault->kind == Kind::kDevice ? nullptr : "it names no error";
  }
  char name[64] = "";
  text.substr(equals + 1).copy(name, sizeof(name) - 1);
  if (!find_error(name, &fault->code) || fault->code == cudaSuccess) {
    return "there is no such error";
  }
  if (fault->kind == Kind::kDevice && !sticky(fault->code)) {
    return "a lost device gives a sticky error, such as cudaErrorUnknown";
  }
  const bool from_kernels = fault->code == cudaErrorAssert ||
                            fault->code == cudaErrorLaunchFailure ||
                            fault->code == cudaErrorIllegalAddress;
  if (fault->kind == Kind::kKernel && !from_kernels) {
    return "a kernel fails with cudaErrorLaunchFailure, cudaErrorIllegalAddress or "
           "cudaErrorAssert";
  }
  return nullptr;
}

template <cudaError_t Code>
void fail_as_planned(const anvilLaunch* /*launch*/) {
  throw PlannedFailure{Code};
}

}  // namespace

bool sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

bool set_faults(const char* text, char* why, size_t why_size) {
  Plan next{};
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const char* wrong =
        next.size == kMaxFaults ? "there are more than 32" : parse(one, &next.faults[next.size++]);
    if (wrong != nullptr) {
      std::snprintf(why, why_size,
                    "the fault '%.*s' is not allowed: %s; use FUNCTION@N=ERROR, *@N=ERROR, "
                    "kernel@N=ERROR or deviceI@N, separated by commas",
                    static_cast<int>(one.size()), one.data(), wrong);
      return false;
    }
  }
  const std::lock_guard lock(mutex);
  plan = next;
  calls = 0;
  faults_planned.store(next.size > 0, std::memory_order_release);
  return true;
}

cudaError_t planned_failure(const char* function, int device) {
  const std::lock_guard lock(mutex);
  ++calls;
  cudaError_t result = cudaSuccess;
  for (size_t i = 0; i < plan.size; ++i) {
    Fault& fault = plan.faults[i];
    const bool counts =
        fault.kind == Kind::kAnyFunction ||
        (fault.kind == Kind::kFunction && std::strcmp(fault.function, function) == 0) ||
        (fault.kind == Kind::kDevice && fault.device == device);
    if (counts && ++fault.seen == fault.at) {
      result = fault.code;
      if (sticky(fault.code)) {
        fail(anvil::simulator::device(device), fault.code);
      }
    }
  }
  return result;
}

const anvilKernel* planned_kernel(const anvilKernel* kernel) {
  cudaError_t code = cudaSuccess;
  {
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < plan.size; ++i) {
      Fault& fault = plan.faults[i];
      if (fault.kind == Kind::kKernel && ++fault.seen == fault.at) {
        code = fault.code;
      }
    }
  }
  if (code == cudaSuccess) {
    return kernel;
  }
  // Never freed: the queue and reports refer to it.
  auto* failing = new anvilKernel(*kernel);
  failing->body = code == cudaErrorAssert           ? &fail_as_planned<cudaErrorAssert>
                  : code == cudaErrorIllegalAddress ? &fail_as_planned<cudaErrorIllegalAddress>
                                                    : &fail_as_planned<cudaErrorLaunchFailure>;
  return failing;
}

ANVIL_EXPORT cudaError_t anvilSimulatorSetFaults(const char* text) {
  // The environment's plan is read by the first call, and must not come later.
  if (const cudaError_t refused = initialise()) {
    return refused;
  }
  char why[400];
  if (text == nullptr || !set_faults(text, why, sizeof(why))) {
    report("%s", text == nullptr ? "the plan of faults is null" : why);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

ANVIL_EXPORT unsigned long long anvilSimulatorCallCount() {
  const std::lock_guard lock(mutex);
  return calls;
}

}  // namespace anvil::simulator
