// The cuDNN functions that Anvil calls, from libcudnn.so.9.
#pragma once

// Convolutions go through the functions of <cudnn_cnn.h>, which cuDNN 9 calls
// deprecated in favour of its graph API and still ships.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

#include "aten_ops/library/dynamic_library.h"

#define ANVIL_FOR_EACH_CUDNN_FUNCTION(X)           \
  X(cudnnCreate)                                   \
  X(cudnnSetStream)                                \
  X(cudnnGetErrorString)                           \
  X(cudnnCreateTensorDescriptor)                   \
  X(cudnnDestroyTensorDescriptor)                  \
  X(cudnnSetTensorNdDescriptor)                    \
  X(cudnnCreateFilterDescriptor)                   \
  X(cudnnDestroyFilterDescriptor)                  \
  X(cudnnSetFilterNdDescriptor)                    \
  X(cudnnCreateConvolutionDescriptor)              \
  X(cudnnDestroyConvolutionDescriptor)             \
  X(cudnnSetConvolutionNdDescriptor)               \
  X(cudnnSetConvolutionGroupCount)                 \
  X(cudnnSetConvolutionMathType)                   \
  X(cudnnGetConvolutionForwardAlgorithm_v7)        \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7)   \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
  X(cudnnConvolutionForward)                       \
  X(cudnnConvolutionBackwardData)                  \
  X(cudnnConvolutionBackwardFilter)                \
  X(cudnnConvolutionBackwardBias)                  \
  X(cudnnAddTensor)

namespace anvil::library {

// Complete or absent: loading throws on the first missing name.
struct Cudnn {
#define ANVIL_MEMBER(name) decltype(&::name) name;
  ANVIL_FOR_EACH_CUDNN_FUNCTION(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

inline const Cudnn& cudnn() {
  static const Cudnn table = [] {
    constexpr const char* kName = "libcudnn.so.9";
    void* library = open_library(kName, "nvidia-cudnn-cu13");
    Cudnn result{};
#define ANVIL_FIND(name) \
  result.name = reinterpret_cast<decltype(result.name)>(find_symbol(library, kName, #name));
    ANVIL_FOR_EACH_CUDNN_FUNCTION(ANVIL_FIND)
#undef ANVIL_FIND
    return result;
  }();
  return table;
}

inline void check_cudnn(cudnnStatus_t status, const char* call) {
  TORCH_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN: ", cudnn().cudnnGetErrorString(status),
              " (in ", call, ")");
}

}  // namespace anvil::library

#pragma GCC diagnostic pop

// ANVIL_CUDNN_CHECK(cudnnCreate, &handle);
#define ANVIL_CUDNN_CHECK(function, ...) \
  ::anvil::library::check_cudnn(::anvil::library::cudnn().function(__VA_ARGS__), #function)
