// Convolutions: one interface over cuDNN (CUDA) and ATen's CPU implementation
// on the same memory (simulator).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace anvil::library {

// A convolution over the last `stride.size()` dimensions (2 or 3), as
// torch.nn.functional.conv*. For a transposed one the weight is
// [in channels, out channels / groups, ...].
struct Convolution {
  c10::SmallVector<int64_t, 3> stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

// All tensors are of one dtype (float, double, half, bfloat16) on the current
// device, dense, contiguous or channels_last, all of one memory format; half
// and bfloat16 are accumulated in float. Outputs are allocated by the caller.
// No tensor is empty. Stateless for the caller and thread-safe; work goes to
// the calling thread's current stream; nothing synchronises. Float convolutions
// use TF32 where torch's global context allows it for cuDNN, and deterministic
// algorithms only where it asks for them.
class Dnn {
 public:
  virtual ~Dnn() = default;

  // `bias` is [out channels] or undefined.
  virtual void convolution_forward(const Convolution& convolution,
                                   const at::Tensor& input,
                                   const at::Tensor& weight,
                                   const at::Tensor& bias,
                                   const at::Tensor& output) = 0;
  virtual void convolution_backward_data(const Convolution& convolution,
                                         const at::Tensor& grad_output,
                                         const at::Tensor& weight,
                                         const at::Tensor& grad_input) = 0;
  virtual void convolution_backward_weight(const Convolution& convolution,
                                           const at::Tensor& grad_output,
                                           const at::Tensor& input,
                                           const at::Tensor& grad_weight) = 0;
  // grad_bias is [out channels].
  virtual void convolution_backward_bias(const at::Tensor& grad_output,
                                         const at::Tensor& grad_bias) = 0;
};

// The implementation for runtime::driver(), made at first use.
Dnn& dnn();

// Each implementation's factory; only dnn() calls these. The object is never
// destroyed.
Dnn* make_cudnn();
Dnn* make_simulator_dnn();

}  // namespace anvil::library
