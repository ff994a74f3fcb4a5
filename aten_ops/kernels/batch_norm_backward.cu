// Gradients of batch norm. With g = grad_output, s = sum(g) and
// d = sum(g * (input - mean)) over a channel's n elements:
//   grad_bias = s,  grad_weight = d * invstd
//   grad_input = (g - s / n - (input - mean) * invstd^2 * d / n) * invstd * weight
// and, where the statistics are constants, grad_input = g * invstd * weight.
#include <algorithm>

#include "aten_ops/kernels/batch_norm_kernels.h"
#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/team.h"
#include "aten_ops/kernels/weight_dtype.h"
#include "aten_ops/kernels/zero_fill.h"

namespace anvil::kernels {

// How the sums are spread: `parts` blocks for each unit, a unit being a channel
// or, with the channels last, a tile of channels.
struct BatchNormSumsPlan {
  int64_t units;
  int64_t tile;
  int64_t parts;
  size_t counter_bytes;
};

template <class T, class W>
struct BatchNormSums {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  Pointer<const T> grad_output;
  Pointer<const T> input;
  Pointer<const Acc> mean;
  Pointer<const Acc> invstd;
  Pointer<W> grad_weight;
  Pointer<W> grad_bias;
  Pointer<Acc> sums;            // [2, channels]
  Pointer<unsigned> counters;   // [units], zero
  Pointer<Pair<Acc>> partials;  // [units, parts, tile]
  BatchNormShape shape;
  BatchNormSumsPlan plan;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    Acc* of_gradient = team.template shared<Acc>(plan.tile);
    Acc* of_product = team.template shared<Acc>(plan.tile);
    for (int64_t block = team.block(); block < plan.units * plan.parts; block += team.blocks()) {
      const int64_t unit = divide(block, plan.parts);
      const int64_t part = block - unit * plan.parts;
      const int64_t first = unit * plan.tile;
      const int64_t left = shape.channels - first;
      const int64_t width = left < plan.tile ? left : plan.tile;
      if (shape.channels_last) {
        sum_rows(team, of_gradient, of_product, first, width, part);
      } else {
        sum_planes(team, of_gradient, of_product, unit, part);
      }
      Pair<Acc>* all = partials + unit * plan.parts * plan.tile;
      if (plan.parts == 1) {
        team.for_each(width, [&](int64_t c) { store(first + c, of_gradient[c], of_product[c]); });
        continue;
      }
      team.for_each(
          width, [&](int64_t c) { all[part * plan.tile + c] = {of_gradient[c], of_product[c]}; });
      if (team.last_block(counters + unit, plan.parts)) {
        team.for_each(width, [&](int64_t c) {
          Pair<Acc> total{0, 0};
          for (int64_t p = 0; p < plan.parts; ++p) {
            total = AddPairs{}(total, all[p * plan.tile + c]);
          }
          store(first + c, total.first, total.second);
        });
      }
    }
  }

 private:
  // One channel: a part of the batch's planes, or of the positions of each.
  template <class Team>
  ANVIL_DEVICE void sum_planes(
      Team& team, Acc* of_gradient, Acc* of_product, int64_t channel, int64_t part) const {
    const bool split_batch = shape.batch >= plan.parts;
    const int64_t extent = split_batch ? shape.batch : shape.positions;
    const int64_t step = divide(extent + plan.parts - 1, plan.parts);
    const int64_t begin = part * step < extent ? part * step : extent;
    const int64_t length = begin + step < extent ? step : extent - begin;
    const int64_t outer = split_batch ? length : shape.batch;
    const int64_t inner = split_batch ? shape.positions : length;
    const int64_t base = channel * shape.positions +
                         (split_batch ? begin * shape.channels * shape.positions : begin);
    const Acc m = mean[channel];
    const auto row = [&](int64_t o) { return base + o * shape.channels * shape.positions; };
    const Acc gradient =
        team.reduce2d(outer, inner, Acc(0), Add{}, row, [&](int64_t offset, int64_t, int64_t i) {
          return static_cast<Acc>(grad_output[offset + i]);
        });
    const Acc product =
        team.reduce2d(outer, inner, Acc(0), Add{}, row, [&](int64_t offset, int64_t, int64_t i) {
          return static_cast<Acc>(grad_output[offset + i]) *
                 (static_cast<Acc>(input[offset + i]) - m);
        });
    // Every thread has the sums; the one that handles column 0 keeps them.
    team.for_each(1, [&](int64_t c) {
      of_gradient[c] = gradient;
      of_product[c] = product;
    });
  }

  template <class Team>
  ANVIL_DEVICE void sum_rows(Team& team,
                             Acc* of_gradient,
                             Acc* of_product,
                             int64_t first,
                             int64_t width,
                             int64_t part) const {
    const int64_t rows = shape.batch * shape.positions;
    const int64_t step = divide(rows + plan.parts - 1, plan.parts);
    const int64_t end = (part + 1) * step < rows ? (part + 1) * step : rows;
    team.for_each(width, [&](int64_t c) {
      of_gradient[c] = Acc(0);
      of_product[c] = Acc(0);
    });
    for (int64_t row = part * step; row < end; ++row) {
      const T* g = grad_output + row * shape.channels + first;
      const T* x = input + row * shape.channels + first;
      const Acc* m = mean + first;
      team.for_each(width, [&](int64_t c) {
        const Acc gradient = static_cast<Acc>(g[c]);
        of_gradient[c] += gradient;
        of_product[c] += gradient * (static_cast<Acc>(x[c]) - m[c]);
      });
    }
  }

  ANVIL_DEVICE void store(int64_t channel, Acc gradient, Acc product) const {
    sums[channel] = gradient;
    sums[shape.channels + channel] = product;
    if (grad_weight.get() != nullptr) {
      grad_weight[channel] = static_cast<W>(product * invstd[channel]);
    }
    if (grad_bias.get() != nullptr) {
      grad_bias[channel] = static_cast<W>(gradient);
    }
  }
};

template <class T, class W>
struct BatchNormGradInputBody {
  using Acc = Accumulate<T>;
  Pointer<const T> grad_output;
  Pointer<const T> input;
  Pointer<const W> weight;
  Pointer<const Acc> mean;
  Pointer<const Acc> invstd;
  Pointer<const Acc> sums;
  Pointer<T> grad_input;
  int64_t channels;
  Acc count;
  bool train;

  struct Channel {
    Acc mean;
    Acc shift;
    Acc slope;
    Acc scale;
  };
  ANVIL_DEVICE Channel channel(int64_t c) const {
    const Acc scale = invstd[c] * (weight.get() != nullptr ? static_cast<Acc>(weight[c]) : Acc(1));
    if (!train) {
      return {Acc(0), Acc(0), Acc(0), scale};
    }
    return {mean[c], sums[c] / count, invstd[c] * invstd[c] * sums[channels + c] / count, scale};
  }
  ANVIL_DEVICE void element(int64_t i, const Channel& c) const {
    const Acc g = static_cast<Acc>(grad_output[i]);
    const Acc centred = train ? static_cast<Acc>(input[i]) - c.mean : Acc(0);
    grad_input[i] = static_cast<T>((g - c.shift - centred * c.slope) * c.scale);
  }
};

namespace {

BatchNormSumsPlan plan_sums(const BatchNormShape& shape) {
  constexpr int64_t kTargetBlocks = 512;
  constexpr int64_t kElementsPerPart = 4096;
  constexpr int64_t kRowsPerPart = 64;
  BatchNormSumsPlan plan{};
  const int64_t count = shape.batch * shape.positions;
  if (shape.channels_last) {
    plan.tile = std::min<int64_t>(shape.channels, 256);
    plan.units = (shape.channels + plan.tile - 1) / plan.tile;
    plan.parts = std::clamp<int64_t>(kTargetBlocks / plan.units, 1,
                                     (count + kRowsPerPart - 1) / kRowsPerPart);
  } else {
    plan.tile = 1;
    plan.units = shape.channels;
    plan.parts = std::clamp<int64_t>(kTargetBlocks / plan.units, 1,
                                     (count + kElementsPerPart - 1) / kElementsPerPart);
    plan.parts = std::min(plan.parts, std::max(shape.batch, shape.positions));
  }
  plan.counter_bytes = (static_cast<size_t>(plan.units) * sizeof(unsigned) + 15) / 16 * 16;
  return plan;
}

template <class T, class W>
void launch_backward(const BatchNormBackward& n, cudaStream_t stream) {
  using Acc = Accumulate<T>;
  const T* grad_output = static_cast<const T*>(n.grad_output);
  const T* input = static_cast<const T*>(n.input);
  const Acc* mean = static_cast<const Acc*>(n.mean);
  const Acc* invstd = static_cast<const Acc*>(n.invstd);
  Acc* sums = static_cast<Acc*>(n.sums);
  if (n.train || n.grad_weight != nullptr || n.grad_bias != nullptr) {
    const BatchNormSumsPlan plan = plan_sums(n.shape);
    char* scratch = static_cast<char*>(n.scratch);
    zero_fill(scratch, plan.counter_bytes, stream);
    launch<BatchNormSums<T, W>>(
        "batch_norm_sums",
        {.blocks = plan.units * plan.parts,
         .threads = 256,
         .shared_bytes = 2 * shared_size<Acc>(plan.tile)},
        stream,
        {grad_output, input, mean, invstd, static_cast<W*>(n.grad_weight),
         static_cast<W*>(n.grad_bias), sums, reinterpret_cast<unsigned*>(scratch),
         reinterpret_cast<Pair<Acc>*>(scratch + plan.counter_bytes), n.shape, plan});
  }
  if (n.grad_input != nullptr) {
    const BatchNormGradInputBody<T, W> body{grad_output,
                                            input,
                                            static_cast<const W*>(n.weight),
                                            mean,
                                            invstd,
                                            sums,
                                            static_cast<T*>(n.grad_input),
                                            n.shape.channels,
                                            static_cast<Acc>(n.shape.batch * n.shape.positions),
                                            n.train};
    for_each_channel("batch_norm_grad_input", body, n.shape, stream);
  }
}

}  // namespace

size_t batch_norm_backward_scratch_bytes(const BatchNormShape& shape) {
  const BatchNormSumsPlan plan = plan_sums(shape);
  return plan.counter_bytes +
         static_cast<size_t>(plan.units * plan.parts * plan.tile) * sizeof(Pair<double>);
}

void batch_norm_backward(const BatchNormBackward& n, cudaStream_t stream) {
  dispatch_with_weight(
      n.input_dtype, n.weight_dtype, "batch_norm_backward", [&](auto tag, auto weight_tag) {
        launch_backward<typename decltype(tag)::type, typename decltype(weight_tag)::type>(n,
                                                                                           stream);
      });
}

}  // namespace anvil::kernels
