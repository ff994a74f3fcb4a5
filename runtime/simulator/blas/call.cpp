#include "runtime/simulator/blas/call.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/simulator/blas/extension.h"
#include "runtime/simulator/blas/refused.h"

namespace anvil::simulator::blas {
namespace {

// Calls are added at the front and stay.
constinit std::atomic<Call*> first{nullptr};

void list(Call& call) {
  if (call.is_listed.exchange(true)) {
    return;
  }
  call.next = first.load();
  while (!first.compare_exchange_weak(call.next, &call)) {
  }
}

}  // namespace

void count(Call& call) {
  call.count.fetch_add(1, std::memory_order_relaxed);
  if (!call.is_listed.load(std::memory_order_relaxed)) {
    list(call);
  }
}

void report(const Call& call, const char* format, ...) {
  char line[512];
  int length = std::snprintf(line, sizeof(line), "anvil simulator: %s: ", call.name);
  va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
  va_end(arguments);
  length = length < static_cast<int>(sizeof(line)) - 1 ? length : sizeof(line) - 2;
  line[length++] = '\n';
  // One write, so that lines of several threads do not mix.
  static_cast<void>(!write(STDERR_FILENO, line, length));
}

cublasStatus_t refuse(const Call& call, const char* what) {
  report(call, "%s is not supported (docs/simulator.md lists what is)", what);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

int refuse_function(Call& call) {
  count(call);
  return refuse(call, "it");
}

ANVIL_BLAS_EXPORT uint64_t anvilBlasCalls(const char* function) {
  // A function with two names in the list (a refusal has its own) counts both.
  uint64_t calls = 0;
  for (const Call* call = first.load(); call != nullptr; call = call->next) {
    if (std::strcmp(call->name, function) == 0) {
      calls += call->count.load(std::memory_order_relaxed);
    }
  }
  return calls;
}

ANVIL_BLAS_EXPORT void anvilBlasForEachCall(void (*visit)(const char*, uint64_t, void*),
                                            void* context) {
  for (const Call* call = first.load(); call != nullptr; call = call->next) {
    if (const uint64_t calls = call->count.load(std::memory_order_relaxed)) {
      visit(call->name, calls, context);
    }
  }
}

ANVIL_BLAS_EXPORT void anvilBlasResetCalls() {
  for (Call* call = first.load(); call != nullptr; call = call->next) {
    call->count.store(0, std::memory_order_relaxed);
  }
}

}  // namespace anvil::simulator::blas
