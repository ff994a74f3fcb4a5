// Layer norm, forward: a block per row.
//   output = (input - mean) * rstd * weight + bias,  rstd = 1 / sqrt(variance + eps)
#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/layer_norm_kernels.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/softmax_kernels.h"
#include "aten_ops/kernels/team.h"
#include "aten_ops/kernels/weight_dtype.h"

namespace anvil::kernels {

// W is the type of weight and bias.
template <class T, class W>
struct LayerNormForward {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  Pointer<const T> input;
  Pointer<const W> weight;
  Pointer<const W> bias;
  Pointer<T> output;
  Pointer<Acc> mean_out;
  Pointer<Acc> rstd_out;
  int64_t rows;
  int64_t columns;
  Acc eps;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const W* scale = weight;
    const W* shift = bias;
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const T* x = input + row * columns;
      T* y = output + row * columns;
      const Acc count = static_cast<Acc>(columns);
      const Acc mean = team.reduce_contiguous(x, columns, Acc(0), Add{}, [&](T v, int64_t) {
        return static_cast<Acc>(v);
      }) / count;
      const Acc squares = team.reduce_contiguous(x, columns, Acc(0), Add{}, [&](T v, int64_t) {
        const Acc d = static_cast<Acc>(v) - mean;
        return d * d;
      });
      const Acc rstd = Acc(1) / std::sqrt(squares / count + eps);
      if (scale != nullptr && shift != nullptr) {
        team.for_each(columns, [&](int64_t i) {
          y[i] =
              static_cast<T>((static_cast<Acc>(x[i]) - mean) * rstd * static_cast<Acc>(scale[i]) +
                             static_cast<Acc>(shift[i]));
        });
      } else {
        team.for_each(columns, [&](int64_t i) {
          const Acc normalized = (static_cast<Acc>(x[i]) - mean) * rstd;
          const Acc scaled =
              scale != nullptr ? normalized * static_cast<Acc>(scale[i]) : normalized;
          y[i] = static_cast<T>(shift != nullptr ? scaled + static_cast<Acc>(shift[i]) : scaled);
        });
      }
      team.once([&] {
        mean_out[row] = mean;
        rstd_out[row] = rstd;
      });
    }
  }
};

namespace {

template <class T, class W>
void launch_forward(const LayerNorm& n, cudaStream_t stream) {
  using Acc = Accumulate<T>;
  launch<LayerNormForward<T, W>>(
      "layer_norm", {.blocks = n.rows, .threads = row_threads(n.columns)}, stream,
      {static_cast<const T*>(n.input), static_cast<const W*>(n.weight),
       static_cast<const W*>(n.bias), static_cast<T*>(n.output), static_cast<Acc*>(n.mean),
       static_cast<Acc*>(n.rstd), n.rows, n.columns, static_cast<Acc>(n.eps)});
}

}  // namespace

void layer_norm_forward(const LayerNorm& n, cudaStream_t stream) {
  dispatch_with_weight(n.dtype, n.weight_dtype, "layer_norm", [&](auto tag, auto weight_tag) {
    launch_forward<typename decltype(tag)::type, typename decltype(weight_tag)::type>(n, stream);
  });
}

const LayerNormKernels layer_norm_kernels{
    .forward = layer_norm_forward,
    .backward = layer_norm_backward,
    .backward_scratch_bytes = layer_norm_backward_scratch_bytes,
};

}  // namespace anvil::kernels
