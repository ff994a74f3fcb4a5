// While ANVIL_TRACE is set, the runtime's events say which operator made the
// call: torch's observers tell when one begins and ends on a thread.
#include <ATen/record_function.h>

#include <memory>
#include <string>

#include "runtime/trace.h"

namespace anvil {
namespace {

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& function) {
  std::string name = function.name();
  if (const std::string overload = function.overload_name(); !overload.empty()) {
    name += '.' + overload;
  }
  runtime::enter_operator(std::move(name));
  return nullptr;
}

void leave(const at::RecordFunction& /*function*/, at::ObserverContext* /*context*/) {
  runtime::leave_operator();
}

// Operators only: their begin and end are on one thread, properly nested.
[[maybe_unused]] const bool observing = [] {
  if (runtime::tracing()) {
    at::addGlobalCallback(
        at::RecordFunctionCallback(&enter, &leave).scopes({at::RecordScope::FUNCTION}));
  }
  return true;
}();

}  // namespace
}  // namespace anvil
