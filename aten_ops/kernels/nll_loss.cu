// Negative log likelihood, forward and backward.
#include "aten_ops/kernels/nll_loss.h"

#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/device_check.h"
#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/softmax_kernels.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

template <class T, class Target>
struct NllArguments {
  using Acc = Accumulate<T>;
  Pointer<const T> input;
  Pointer<const Target> target;
  Pointer<const T> weight;
  int64_t samples;  // batch * positions
  int64_t classes;
  int64_t positions;
  int64_t ignore_index;

  // Class of a sample, or -1 if it is ignored.
  ANVIL_DEVICE int64_t label(int64_t sample) const {
    const int64_t value = static_cast<int64_t>(target[sample]);
    if (value == ignore_index) {
      return -1;
    }
    device_check(value >= 0 && value < classes, "nll_loss: target out of range");
    return value;
  }
  ANVIL_DEVICE Acc class_weight(int64_t label) const {
    return weight.get() != nullptr ? static_cast<Acc>(weight[label]) : Acc(1);
  }
  // Offset of [sample, label] in the input.
  ANVIL_DEVICE int64_t offset(int64_t sample, int64_t label) const {
    const int64_t batch = sample / positions;
    return (batch * classes + label) * positions + (sample - batch * positions);
  }
};

// One loss per sample; ignored samples give 0.
template <class T, class Target>
struct NllLossEach : NllArguments<T, Target> {
  Pointer<T> output;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t step = kSamplesPerBlock;
    for (int64_t first = team.block() * step; first < this->samples;
         first += team.blocks() * step) {
      const int64_t left = this->samples - first;
      team.for_each(left < step ? left : step, [&](int64_t i) {
        const int64_t sample = first + i;
        const int64_t label = this->label(sample);
        output[sample] = label < 0 ? T(0)
                                   : static_cast<T>(-this->class_weight(label) *
                                                    static_cast<typename NllLossEach::Acc>(
                                                        this->input[this->offset(sample, label)]));
      });
    }
  }
  static constexpr int64_t kSamplesPerBlock = 1024;
};

// The sum or the weighted mean, by one block: a loss has few samples, and one
// block keeps the order of the sum fixed.
template <class T, class Target>
struct NllLossTotal : NllArguments<T, Target> {
  using Acc = Accumulate<T>;
  Pointer<T> output;
  Pointer<T> total_weight;
  bool mean;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const Pair<Acc> sums =
        team.reduce(this->samples, Pair<Acc>{0, 0}, AddPairs{}, [&](int64_t sample) {
          const int64_t label = this->label(sample);
          if (label < 0) {
            return Pair<Acc>{0, 0};
          }
          const Acc weight = this->class_weight(label);
          return Pair<Acc>{-weight * static_cast<Acc>(this->input[this->offset(sample, label)]),
                           weight};
        });
    team.once([&] {
      *output = static_cast<T>(mean ? sums.first / sums.second : sums.first);
      *total_weight = static_cast<T>(sums.second);
    });
  }
};

// A thread per element of the gradient.
template <class T, class Target>
struct NllLossBackward : NllArguments<T, Target> {
  using Acc = Accumulate<T>;
  Pointer<const T> grad_output;
  Pointer<const T> total_weight;
  Pointer<T> grad_input;
  LossReduction reduction;
  static constexpr int64_t kElementsPerBlock = 1024;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t numel = this->samples * this->classes;
    for (int64_t first = team.block() * kElementsPerBlock; first < numel;
         first += team.blocks() * kElementsPerBlock) {
      const int64_t left = numel - first;
      team.for_each(left < kElementsPerBlock ? left : kElementsPerBlock, [&](int64_t i) {
        const int64_t element = first + i;
        const int64_t plane = divide(element, this->positions);
        const int64_t batch = divide(plane, this->classes);
        const int64_t sample = batch * this->positions + (element - plane * this->positions);
        const int64_t label = this->label(sample);
        Acc grad = 0;
        if (label == plane - batch * this->classes) {
          grad = -this->class_weight(label) *
                 static_cast<Acc>(grad_output[reduction == LossReduction::kNone ? sample : 0]);
          if (reduction == LossReduction::kMean) {
            grad /= static_cast<Acc>(*total_weight);
          }
        }
        grad_input[element] = static_cast<T>(grad);
      });
    }
  }
};

namespace {

template <class Kernel>
Kernel with_arguments(const NllLoss& loss) {
  Kernel kernel;
  kernel.input = static_cast<decltype(kernel.input.get())>(loss.input);
  kernel.target = static_cast<decltype(kernel.target.get())>(loss.target);
  kernel.weight = static_cast<decltype(kernel.weight.get())>(loss.weight);
  kernel.samples = loss.batch * loss.positions;
  kernel.classes = loss.classes;
  kernel.positions = loss.positions;
  kernel.ignore_index = loss.ignore_index;
  return kernel;
}

template <class F>
void dispatch_loss(const NllLoss& loss, const char* name, F f) {
  dispatch(FloatingTypes{}, loss.dtype, name, [&](auto tag) {
    dispatch<int64_t, uint8_t>(loss.target_dtype, name,
                               [&](auto target_tag) { f(tag, target_tag); });
  });
}

void nll_loss_forward(const NllLoss& loss, void* output, void* total_weight, cudaStream_t stream) {
  dispatch_loss(loss, "nll_loss", [&](auto tag, auto target_tag) {
    using T = typename decltype(tag)::type;
    using Target = typename decltype(target_tag)::type;
    if (loss.reduction == LossReduction::kNone) {
      auto kernel = with_arguments<NllLossEach<T, Target>>(loss);
      kernel.output = static_cast<T*>(output);
      launch<NllLossEach<T, Target>>("nll_loss_each",
                                     {.blocks = blocks_for(kernel.samples, 1024), .threads = 256},
                                     stream, kernel);
      return;
    }
    auto kernel = with_arguments<NllLossTotal<T, Target>>(loss);
    kernel.output = static_cast<T*>(output);
    kernel.total_weight = static_cast<T*>(total_weight);
    kernel.mean = loss.reduction == LossReduction::kMean;
    launch<NllLossTotal<T, Target>>("nll_loss_total",
                                    {.blocks = 1, .threads = row_threads(kernel.samples, 512)},
                                    stream, kernel);
  });
}

void nll_loss_backward(const NllLoss& loss,
                       const void* grad_output,
                       const void* total_weight,
                       void* grad_input,
                       cudaStream_t stream) {
  dispatch_loss(loss, "nll_loss_backward", [&](auto tag, auto target_tag) {
    using T = typename decltype(tag)::type;
    using Target = typename decltype(target_tag)::type;
    auto kernel = with_arguments<NllLossBackward<T, Target>>(loss);
    kernel.grad_output = static_cast<const T*>(grad_output);
    kernel.total_weight = static_cast<const T*>(total_weight);
    kernel.grad_input = static_cast<T*>(grad_input);
    kernel.reduction = loss.reduction;
    launch<NllLossBackward<T, Target>>(
        "nll_loss_backward",
        {.blocks = blocks_for(kernel.samples * loss.classes, 1024), .threads = 256}, stream,
        kernel);
  });
}

}  // namespace

const NllLossKernels nll_loss_kernels{
    .forward = nll_loss_forward,
    .backward = nll_loss_backward,
};

}  // namespace anvil::kernels
