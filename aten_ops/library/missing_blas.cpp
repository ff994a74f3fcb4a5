// In place of cublaslt_blas.cpp in builds that found no cuBLASLt headers.
#include <c10/util/Exception.h>

#include "aten_ops/library/blas.h"

namespace anvil::library {

Blas* make_cublaslt() {
  TORCH_CHECK(false,
              "this build of Anvil has no cuBLASLt; build it beside a CUDA build of torch, which "
              "brings the headers (pip install nvidia-cublas)");
}

}  // namespace anvil::library
