// Convolutions on the simulator: ATen's CPU kernels on the device's memory.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/sum.h>

#include <array>

#include "aten_ops/library/dnn.h"
#include "aten_ops/library/host_call.h"

namespace anvil::library {
namespace {

class SimulatorDnn final : public Dnn {
 public:
  void convolution_forward(const Convolution& convolution,
                           const at::Tensor& input,
                           const at::Tensor& weight,
                           const at::Tensor& bias,
                           const at::Tensor& output) override {
    host_call(
        "convolution_forward", [c = convolution, input = HostView(input), weight = HostView(weight),
                                bias = HostView(bias), output = HostView(output)] {
          output.tensor().copy_(at::convolution(input.tensor(), weight.tensor(), bias.tensor(),
                                                c.stride, c.padding, c.dilation, c.transposed,
                                                c.output_padding, c.groups));
        });
  }

  void convolution_backward_data(const Convolution& convolution,
                                 const at::Tensor& grad_output,
                                 const at::Tensor& weight,
                                 const at::Tensor& grad_input) override {
    host_call("convolution_backward_data",
              [c = convolution, grad_output = HostView(grad_output), weight = HostView(weight),
               grad_input = HostView(grad_input)] {
                // Of the input only the shape counts.
                const at::Tensor result = grad_input.tensor();
                result.copy_(std::get<0>(backward(c, grad_output.tensor(), result, weight.tensor(),
                                                  {true, false, false})));
              });
  }

  void convolution_backward_weight(const Convolution& convolution,
                                   const at::Tensor& grad_output,
                                   const at::Tensor& input,
                                   const at::Tensor& grad_weight) override {
    host_call("convolution_backward_weight",
              [c = convolution, grad_output = HostView(grad_output), input = HostView(input),
               grad_weight = HostView(grad_weight)] {
                // Of the weight only the shape counts.
                const at::Tensor result = grad_weight.tensor();
                result.copy_(std::get<1>(backward(c, grad_output.tensor(), input.tensor(), result,
                                                  {false, true, false})));
              });
  }

  void convolution_backward_bias(const at::Tensor& grad_output,
                                 const at::Tensor& grad_bias) override {
    host_call("convolution_backward_bias",
              [grad_output = HostView(grad_output), grad_bias = HostView(grad_bias)] {
                at::Tensor result = grad_bias.tensor();
                const at::Tensor grad = grad_output.tensor();
                c10::SmallVector<int64_t, 4> dims{0};
                for (int64_t dim = 2; dim < grad.dim(); ++dim) {
                  dims.push_back(dim);
                }
                at::sum_out(result, grad, dims);
              });
  }

 private:
  static std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const Convolution& c,
                                                                 const at::Tensor& grad_output,
                                                                 const at::Tensor& input,
                                                                 const at::Tensor& weight,
                                                                 std::array<bool, 3> mask) {
    return at::convolution_backward(grad_output, input, weight, at::OptionalIntArrayRef(), c.stride,
                                    c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
                                    mask);
  }
};

}  // namespace

Dnn* make_simulator_dnn() { return new SimulatorDnn; }

}  // namespace anvil::library
