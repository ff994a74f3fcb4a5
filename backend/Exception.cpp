#include "backend/Exception.h"

#include <c10/util/Exception.h>

#include <string>

#include "runtime/error.h"
#include "runtime/error_hook.h"
#include "runtime/table.h"

namespace anvil::detail {

void throw_accelerator_error(cudaError_t code, const char* call) {
  runtime::ignore(code);
  // "runtime::table().cudaMalloc(...)" -> "cudaMalloc(...)"
  std::string name = call;
  if (const auto found = name.find("cuda"); found != std::string::npos) {
    name.erase(0, found);
  }
  if (const auto dot = name.rfind(".cuda", name.find('(')); dot != std::string::npos) {
    name.erase(0, dot + 1);
  }
  throw c10::AcceleratorError({__func__, "backend/Exception.cpp", __LINE__}, code,
                              runtime::Error(code, name.c_str()).what());
}

namespace {
// Kernels and the layers without torch report through runtime::check(), which
// throws torch's kind of error, too, in every process that has this library.
[[maybe_unused]] const bool registered =
    (runtime::set_error_thrower(&throw_accelerator_error), true);
}  // namespace

}  // namespace anvil::detail
