// The boxed kernel behind every operator of PrivateUse1 that has none, and the
// refusal of layouts that the device does not have.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <mutex>
#include <string>
#include <unordered_set>

#include "aten_ops/fallback/Arguments.h"
#include "aten_ops/fallback/Policy.h"
#include "backend/GuardImpl.h"

namespace anvil {

namespace {

bool is_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) {
      return true;
    }
  }
  return false;
}

// True the first time it is asked for a name.
bool is_first(const std::string& name) {
  static std::mutex mutex;
  static auto* seen = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return seen->insert(name).second;
}

void apply_policy(const std::string& name, const FallbackArguments& arguments) {
  const FallbackPolicy policy = fallback_policy();
  TORCH_CHECK_NOT_IMPLEMENTED(
      policy != FallbackPolicy::kForbid, name, " has no kernel for ", kDeviceType,
      ", and falling back to the CPU is forbidden. It was called with ", arguments.describe(),
      ". Move these tensors to the CPU for this call, add a kernel (docs/add_an_operator.md), or "
      "allow the fallback: leave torch.anvil.forbid_fallback(), or set ANVIL_FALLBACK=warn or "
      "allow.");
  if (policy == FallbackPolicy::kWarn && is_first(name)) {
    TORCH_WARN(name, " has no kernel for ", kDeviceType,
               " and runs on the CPU: its inputs are copied there and its results back, and the "
               "calling thread waits for the device. torch.anvil.fallback_stats() counts such "
               "calls. ANVIL_FALLBACK=allow silences this warning, ANVIL_FALLBACK=forbid makes it "
               "an error.");
  }
}

void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string name = c10::toString(op.operator_name());
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_view(op.schema()), name, " is a view operator without an implementation for ",
      kDeviceType,
      ", and a view of device memory cannot be made on the CPU. Add it to "
      "aten_ops/view.yaml (docs/add_an_operator.md), or call it on a CPU tensor.");
  FallbackArguments arguments(op, *stack);
  apply_policy(name, arguments);

  const OptionalDeviceGuard guard(
      arguments.device().type() == kDeviceType ? std::optional(arguments.device()) : std::nullopt);
  arguments.to_cpu(*stack);
  try {
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  } catch (c10::Error& error) {
    error.add_context(name + " has no kernel for " + c10::DeviceTypeName(kDeviceType, true) +
                      " and was run on the CPU instead");
    throw;
  }
  arguments.write_back();
  arguments.to_device(*stack);
  FallbackStats stats = arguments.stats();
  stats.calls = 1;
  count_fallback(name, stats);
}

// A tensor of such a layout cannot hold memory of the device, so there is
// nothing to fall back with.
void refuse_layout(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, c10::toString(op.operator_name()), " is not implemented for ", kDeviceType,
      " tensors of key ", c10::toString(keys.highestPriorityTypeId()),
      ": sparse, quantized and nested tensors do not live on this device. Use a dense tensor, or "
      "keep it on the CPU.");
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&cpu_fallback>());
}
TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_layout>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_layout>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_layout>());
}
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_layout>());
}

}  // namespace

}  // namespace anvil
