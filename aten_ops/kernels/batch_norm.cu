// Batch norm: statistics to scale and shift, and the normalisation itself.
#include <cmath>

#include "aten_ops/kernels/batch_norm_kernels.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/team.h"
#include "aten_ops/kernels/weight_dtype.h"

namespace anvil::kernels {

template <class T, class W>
struct BatchNormBody {
  using Acc = Accumulate<T>;
  Pointer<const T> input;
  Pointer<const W> weight;
  Pointer<const W> bias;
  Pointer<const Acc> mean;
  Pointer<const Acc> invstd;
  Pointer<T> output;

  struct Channel {
    Acc mean;
    Acc scale;
    Acc shift;
  };
  ANVIL_DEVICE Channel channel(int64_t c) const {
    const Acc scale = weight.get() != nullptr ? static_cast<Acc>(weight[c]) : Acc(1);
    return {mean[c], invstd[c] * scale, bias.get() != nullptr ? static_cast<Acc>(bias[c]) : Acc(0)};
  }
  ANVIL_DEVICE void element(int64_t i, const Channel& c) const {
    output[i] = static_cast<T>((static_cast<Acc>(input[i]) - c.mean) * c.scale + c.shift);
  }
};

template <class Acc, class W>
struct FinishStatistics {
  Pointer<const Acc> mean;
  Pointer<Acc> invstd;
  Pointer<W> running_mean;
  Pointer<W> running_var;
  int64_t channels;
  Acc bessel;  // count / (count - 1)
  Acc momentum;
  Acc eps;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t first = team.block() * 256;
    const int64_t left = channels - first;
    team.for_each(left < 256 ? left : 256, [&](int64_t i) {
      const int64_t c = first + i;
      const Acc variance = invstd[c];
      invstd[c] = Acc(1) / std::sqrt(variance + eps);
      if (running_mean.get() != nullptr) {
        running_mean[c] = blend(running_mean[c], mean[c]);
      }
      if (running_var.get() != nullptr) {
        running_var[c] = blend(running_var[c], variance * bessel);
      }
    });
  }

 private:
  ANVIL_DEVICE W blend(W running, Acc value) const {
    return static_cast<W>((Acc(1) - momentum) * static_cast<Acc>(running) + momentum * value);
  }
};

template <class Acc, class W>
struct StatisticsFromRunning {
  Pointer<Acc> mean;
  Pointer<Acc> invstd;
  Pointer<const W> running_mean;
  Pointer<const W> running_var;
  int64_t channels;
  Acc eps;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t first = team.block() * 256;
    const int64_t left = channels - first;
    team.for_each(left < 256 ? left : 256, [&](int64_t i) {
      const int64_t c = first + i;
      mean[c] = static_cast<Acc>(running_mean[c]);
      invstd[c] = Acc(1) / std::sqrt(static_cast<Acc>(running_var[c]) + eps);
    });
  }
};

void batch_norm_normalize(const BatchNorm& n, cudaStream_t stream) {
  dispatch_with_weight(n.input_dtype, n.weight_dtype, "batch_norm", [&](auto tag, auto weight_tag) {
    using T = typename decltype(tag)::type;
    using W = typename decltype(weight_tag)::type;
    using Acc = Accumulate<T>;
    const BatchNormBody<T, W> body{
        static_cast<const T*>(n.input),    static_cast<const W*>(n.weight),
        static_cast<const W*>(n.bias),     static_cast<const Acc*>(n.mean),
        static_cast<const Acc*>(n.invstd), static_cast<T*>(n.output)};
    for_each_channel("batch_norm", body, n.shape, stream);
  });
}

void batch_norm_finish_statistics(const BatchNormStatistics& s, cudaStream_t stream) {
  dispatch_with_weight(s.input_dtype, s.weight_dtype, "batch_norm", [&](auto tag, auto weight_tag) {
    using Acc = Accumulate<typename decltype(tag)::type>;
    using W = typename decltype(weight_tag)::type;
    const double bessel = static_cast<double>(s.count) / static_cast<double>(s.count - 1);
    launch<FinishStatistics<Acc, W>>(
        "batch_norm_finish_statistics", {.blocks = blocks_for(s.channels, 256)}, stream,
        {static_cast<const Acc*>(s.mean), static_cast<Acc*>(s.invstd),
         static_cast<W*>(s.running_mean), static_cast<W*>(s.running_var), s.channels,
         static_cast<Acc>(bessel), static_cast<Acc>(s.momentum), static_cast<Acc>(s.eps)});
  });
}

void batch_norm_statistics_from_running(const BatchNormStatistics& s, cudaStream_t stream) {
  dispatch_with_weight(s.input_dtype, s.weight_dtype, "batch_norm", [&](auto tag, auto weight_tag) {
    using Acc = Accumulate<typename decltype(tag)::type>;
    using W = typename decltype(weight_tag)::type;
    launch<StatisticsFromRunning<Acc, W>>(
        "batch_norm_statistics_from_running", {.blocks = blocks_for(s.channels, 256)}, stream,
        {static_cast<Acc*>(s.mean), static_cast<Acc*>(s.invstd),
         static_cast<const W*>(s.running_mean), static_cast<const W*>(s.running_var), s.channels,
         static_cast<Acc>(s.eps)});
  });
}

const BatchNormKernels batch_norm_kernels{
    .normalize = batch_norm_normalize,
    .finish_statistics = batch_norm_finish_statistics,
    .statistics_from_running = batch_norm_statistics_from_running,
    .backward_scratch_bytes = batch_norm_backward_scratch_bytes,
    .backward = batch_norm_backward,
};

}  // namespace anvil::kernels
