// Gradients of layer norm. With x^ = (input - mean) * rstd and g = grad_output * weight:
//   grad_input  = rstd * (g - mean(g) - x^ * mean(g * x^))   means over the row
//   grad_weight = sum over rows of grad_output * x^
//   grad_bias   = sum over rows of grad_output
#include <algorithm>

#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/layer_norm_kernels.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/softmax_kernels.h"
#include "aten_ops/kernels/team.h"
#include "aten_ops/kernels/weight_dtype.h"
#include "aten_ops/kernels/zero_fill.h"

namespace anvil::kernels {

template <class T, class W>
struct LayerNormGradInput {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  Pointer<const T> grad_output;
  Pointer<const T> input;
  Pointer<const W> weight;
  Pointer<const Acc> mean_in;
  Pointer<const Acc> rstd_in;
  Pointer<T> grad_input;
  int64_t rows;
  int64_t columns;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const W* scale = weight;
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const T* x = input + row * columns;
      const T* dy = grad_output + row * columns;
      T* dx = grad_input + row * columns;
      const Acc mean = mean_in[row];
      const Acc rstd = rstd_in[row];
      const auto gradient = [&](int64_t i) {
        const Acc g = static_cast<Acc>(dy[i]);
        return scale != nullptr ? g * static_cast<Acc>(scale[i]) : g;
      };
      const Acc sum = team.reduce(columns, Acc(0), Add{}, gradient);
      const Acc dot = team.reduce(columns, Acc(0), Add{}, [&](int64_t i) {
        return gradient(i) * (static_cast<Acc>(x[i]) - mean);
      });
      const Acc count = static_cast<Acc>(columns);
      const Acc shift = sum / count;
      const Acc slope = dot * rstd * rstd / count;
      team.for_each(columns, [&](int64_t i) {
        const Acc centred = static_cast<Acc>(x[i]) - mean;
        dx[i] = static_cast<T>(rstd * (gradient(i) - shift - centred * slope));
      });
    }
  }
};

// A block sums a part of the rows of a tile of columns; the last block of a tile
// adds the parts.
template <class T, class W>
struct LayerNormGradWeight {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  Pointer<const T> grad_output;
  Pointer<const T> input;
  Pointer<const Acc> mean;
  Pointer<const Acc> rstd;
  Pointer<W> grad_weight;
  Pointer<W> grad_bias;
  Pointer<unsigned> counters;  // [tiles], zero
  Pointer<Acc> partials;       // [tiles, parts, 2, tile]
  int64_t rows;
  int64_t columns;
  int64_t tile;
  int64_t tiles;
  int64_t parts;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    auto weight_sums = team.template shared<Acc>(tile);
    auto bias_sums = team.template shared<Acc>(tile);
    const int64_t step = (rows + parts - 1) / parts;
    for (int64_t block = team.block(); block < tiles * parts; block += team.blocks()) {
      const int64_t unit = block / parts;
      const int64_t part = block - unit * parts;
      const int64_t first = unit * tile;
      const int64_t width = first + tile <= columns ? tile : columns - first;
      const int64_t end = (part + 1) * step < rows ? (part + 1) * step : rows;
      team.for_each(width, [&](int64_t c) {
        weight_sums[c] = Acc(0);
        bias_sums[c] = Acc(0);
      });
      for (int64_t row = part * step; row < end; ++row) {
        const T* x = input + row * columns + first;
        const T* dy = grad_output + row * columns + first;
        const Acc m = mean[row];
        const Acc s = rstd[row];
        team.for_each(width, [&](int64_t c) {
          const Acc g = static_cast<Acc>(dy[c]);
          weight_sums[c] = Acc(weight_sums[c]) + g * ((static_cast<Acc>(x[c]) - m) * s);
          bias_sums[c] = Acc(bias_sums[c]) + g;
        });
      }
      if (parts == 1) {
        team.for_each(width, [&](int64_t c) { store(first + c, weight_sums[c], bias_sums[c]); });
        continue;
      }
      Acc* mine = partials + (unit * parts + part) * 2 * tile;
      team.for_each(width, [&](int64_t c) {
        mine[c] = weight_sums[c];
        mine[tile + c] = bias_sums[c];
      });
      if (team.last_block(counters + unit, parts)) {
        const Acc* all = partials + unit * parts * 2 * tile;
        team.for_each(width, [&](int64_t c) {
          Acc weight_sum = 0;
          Acc bias_sum = 0;
          for (int64_t p = 0; p < parts; ++p) {
            weight_sum += all[p * 2 * tile + c];
            bias_sum += all[(p * 2 + 1) * tile + c];
          }
          store(first + c, weight_sum, bias_sum);
        });
      }
    }
  }

 private:
  ANVIL_DEVICE void store(int64_t column, Acc weight_sum, Acc bias_sum) const {
    if (grad_weight.get() != nullptr) {
      grad_weight[column] = static_cast<W>(weight_sum);
    }
    if (grad_bias.get() != nullptr) {
      grad_bias[column] = static_cast<W>(bias_sum);
    }
  }
};

namespace {

struct WeightPlan {
  int64_t tile;
  int64_t tiles;
  int64_t parts;
  size_t counter_bytes;
  size_t scratch_bytes;
};

WeightPlan plan_weight(int64_t rows, int64_t columns) {
  constexpr int64_t kTargetBlocks = 512;
  constexpr int64_t kRowsPerPart = 32;
  WeightPlan plan{};
  plan.tile = std::min(columns, kColumnTile);
  plan.tiles = (columns + plan.tile - 1) / plan.tile;
  plan.parts =
      std::clamp<int64_t>(kTargetBlocks / plan.tiles, 1, (rows + kRowsPerPart - 1) / kRowsPerPart);
  plan.counter_bytes = (static_cast<size_t>(plan.tiles) * sizeof(unsigned) + 15) / 16 * 16;
  plan.scratch_bytes =
      plan.counter_bytes +
      static_cast<size_t>(plan.tiles * plan.parts * 2 * plan.tile) * sizeof(double);
  return plan;
}

template <class T, class W>
void launch_backward(const LayerNormBackward& n, cudaStream_t stream) {
  using Acc = Accumulate<T>;
  const T* grad_output = static_cast<const T*>(n.grad_output);
  const T* input = static_cast<const T*>(n.input);
  const Acc* mean = static_cast<const Acc*>(n.mean);
  const Acc* rstd = static_cast<const Acc*>(n.rstd);
  if (n.grad_input != nullptr) {
    launch<LayerNormGradInput<T, W>>("layer_norm_grad_input",
                                     {.blocks = n.rows, .threads = row_threads(n.columns)}, stream,
                                     {grad_output, input, static_cast<const W*>(n.weight), mean,
                                      rstd, static_cast<T*>(n.grad_input), n.rows, n.columns});
  }
  if (n.grad_weight != nullptr || n.grad_bias != nullptr) {
    const WeightPlan plan = plan_weight(n.rows, n.columns);
    char* scratch = static_cast<char*>(n.scratch);
    zero_fill(scratch, plan.counter_bytes, stream);
    launch<LayerNormGradWeight<T, W>>(
        "layer_norm_grad_weight",
        {.blocks = plan.tiles * plan.parts,
         .threads = row_threads(plan.tile * 4),
         .shared_bytes = 2 * shared_size<Acc>(plan.tile)},
        stream,
        {grad_output, input, mean, rstd, static_cast<W*>(n.grad_weight),
         static_cast<W*>(n.grad_bias), reinterpret_cast<unsigned*>(scratch),
         reinterpret_cast<Acc*>(scratch + plan.counter_bytes), n.rows, n.columns, plan.tile,
         plan.tiles, plan.parts});
  }
}

}  // namespace

size_t layer_norm_backward_scratch_bytes(int64_t rows, int64_t columns) {
  return plan_weight(rows, columns).scratch_bytes;
}

void layer_norm_backward(const LayerNormBackward& n, cudaStream_t stream) {
  dispatch_with_weight(
      n.dtype, n.weight_dtype, "layer_norm_backward", [&](auto tag, auto weight_tag) {
        launch_backward<typename decltype(tag)::type, typename decltype(weight_tag)::type>(n,
                                                                                           stream);
      });
}

}  // namespace anvil::kernels
