#include "aten_ops/library/blas.h"

#include "runtime/table.h"

namespace anvil::library {

Blas& blas() {
  static Blas* instance =
      runtime::driver() == runtime::Driver::kCuda ? make_cublaslt() : make_simulator_blas();
  return *instance;
}

}  // namespace anvil::library
