#include "aten_ops/library/dnn.h"

#include "runtime/table.h"

namespace anvil::library {

Dnn& dnn() {
  static Dnn* instance =
      runtime::driver() == runtime::Driver::kCuda ? make_cudnn() : make_simulator_dnn();
  return *instance;
}

}  // namespace anvil::library
