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

ANVIL_LIBRARY_TABLE(Cudnn,
                    cudnn,
                    ANVIL_FOR_EACH_CUDNN_FUNCTION,
                    open_library("libcudnn.so.9", "nvidia-cudnn-cu13"))

inline void check_cudnn(cudnnStatus_t status, const char* call) {
  TORCH_CHECK(status == CUDNN_STATUS_SUCCESS, "cuDNN: ", cudnn().cudnnGetErrorString(status),
              " (in ", call, ")");
}

}  // namespace anvil::library

#pragma GCC diagnostic pop

// ANVIL_CUDNN_CHECK(cudnnCreate, &handle);
#define ANVIL_CUDNN_CHECK(function, ...) \
  ::anvil::library::check_cudnn(::anvil::library::cudnn().function(__VA_ARGS__), #function)
