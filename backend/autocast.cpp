// Autocast on the device: CUDA's operator lists, from torch's own macros, so
// that they follow the installed version.
#include <ATen/Functions.h>
#include <ATen/autocast_mode.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include "backend/TorchVersion.h"

namespace anvil {
namespace {

// torch's lists spell types without a namespace, which ones differs by version.
using namespace at;  // NOLINT(google-build-using-namespace)

Tensor binary_cross_entropy_refused(const Tensor&,
                                    const Tensor&,
                                    const std::optional<Tensor>&,
                                    int64_t) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
              "autocast: their input is the output of a sigmoid, which half precision rounds to 0 "
              "or 1. Use torch.nn.functional.binary_cross_entropy_with_logits or "
              "torch.nn.BCEWithLogitsLoss, which take the input of the sigmoid.");
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define ANVIL_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
  AT_FORALL_LOWER_PRECISION_FP(ANVIL_LOWER_PRECISION)
#undef ANVIL_LOWER_PRECISION

#define ANVIL_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
  AT_FORALL_FP32(ANVIL_FP32)
  ANVIL_FOR_EACH_FP32_BESIDE_THE_LIST(ANVIL_FP32)
#undef ANVIL_FP32

#define ANVIL_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
  AT_FORALL_FP32_SET_OPT_DTYPE(ANVIL_FP32_SET_OPT_DTYPE)
#undef ANVIL_FP32_SET_OPT_DTYPE

  // These have no dtype argument; the overload with one is called instead.
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)

#define ANVIL_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
  AT_FORALL_PROMOTE(ANVIL_PROMOTE)
#undef ANVIL_PROMOTE

  m.impl("binary_cross_entropy", TORCH_FN(binary_cross_entropy_refused));
}

}  // namespace
}  // namespace anvil
