#include "aten_ops/library/blas.h"

#include <cstdlib>
#include <string>

#include "runtime/table.h"

namespace anvil::library {
namespace {

// Read once, with the first product.
Blas* make_for_simulator() {
  const char* value = std::getenv("ANVIL_SIMULATOR_BLAS");
  const std::string choice = value && *value ? value : "aten";
  if (choice == "aten") {
    return make_simulator_blas();
  }
  TORCH_CHECK(choice == "cublaslt", "ANVIL_SIMULATOR_BLAS=", choice,
              " is not known; use aten or cublaslt");
  return make_cublaslt();
}

}  // namespace

Blas& blas() {
  static Blas* instance =
      runtime::driver() == runtime::Driver::kCuda ? make_cublaslt() : make_for_simulator();
  return *instance;
}

}  // namespace anvil::library
