// Counters of the operators and the policy of the CPU fallback.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include <string>

#include "aten_ops/Counters.h"
#include "aten_ops/fallback/Fallback.h"
#include "python/csrc/Bindings.h"

namespace anvil::python {
namespace {

namespace py = pybind11;

// Tuples in the order of the NamedTuples of torch_anvil/anvil/operators.py.
py::dict operator_stats_dict() {
  py::dict result;
  for (const auto& [name, stats] : operator_stats()) {
    result[py::str(name)] = py::make_tuple(stats.kernel, stats.library, stats.fallback);
  }
  return result;
}

py::dict fallback_stats_dict() {
  py::dict result;
  for (const auto& [name, stats] : fallback_stats()) {
    result[py::str(name)] = py::make_tuple(stats.calls, stats.bytes, stats.synchronizations);
  }
  return result;
}

const char* name_of(FallbackPolicy policy) {
  switch (policy) {
    case FallbackPolicy::kAllow:
      return "allow";
    case FallbackPolicy::kWarn:
      return "warn";
    case FallbackPolicy::kForbid:
      return "forbid";
  }
  return "";
}

std::optional<FallbackPolicy> policy_of(const std::optional<std::string>& name) {
  if (!name) {
    return std::nullopt;
  }
  for (const auto policy :
       {FallbackPolicy::kAllow, FallbackPolicy::kWarn, FallbackPolicy::kForbid}) {
    if (*name == name_of(policy)) {
      return policy;
    }
  }
  TORCH_CHECK_VALUE(false, "unknown fallback policy '", *name, "'; use allow, warn or forbid");
}

}  // namespace

void bind_operators(py::module_& module) {
  using torch::wrap_pybind_function;

  module.def("_operator_stats", wrap_pybind_function(&operator_stats_dict));
  module.def("_reset_operator_stats", wrap_pybind_function(&reset_operator_stats));
  module.def("_fallback_stats", wrap_pybind_function(&fallback_stats_dict));
  module.def("_reset_fallback_stats", wrap_pybind_function(&reset_fallback_stats));
  module.def("_fallback_policy",
             wrap_pybind_function([] { return std::string(name_of(fallback_policy())); }));
  // None stands for the policy of ANVIL_FALLBACK.
  module.def(
      "_exchange_fallback_policy",
      wrap_pybind_function([](std::optional<std::string> name) -> std::optional<std::string> {
        const auto before = exchange_fallback_policy(policy_of(name));
        return before ? std::optional<std::string>(name_of(*before)) : std::nullopt;
      }));
}

}  // namespace anvil::python
