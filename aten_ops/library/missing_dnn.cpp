// In place of cuda_dnn.cpp in builds that found no cuDNN headers.
#include <c10/util/Exception.h>

#include "aten_ops/library/dnn.h"

namespace anvil::library {

Dnn* make_cudnn() {
  TORCH_CHECK(false,
              "this build of Anvil has no cuDNN; build it beside a CUDA build of torch, which "
              "brings the headers (pip install nvidia-cudnn-cu13)");
}

}  // namespace anvil::library
