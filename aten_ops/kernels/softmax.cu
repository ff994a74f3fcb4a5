// Softmax and log-softmax, forward: a block per row where the dimension is the
// last one, else a block per tile of neighbouring columns.
#include "aten_ops/kernels/softmax_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/math.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

template <class T, class Out, bool kLog>
struct SoftmaxRows {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  // The output holds the exponentials until their sum is known.
  static constexpr bool kInPlace = kRowsAreCached && !kLog && std::is_same_v<Out, Acc>;
  Pointer<const T> input;
  Pointer<Out> output;
  int64_t rows;
  int64_t dim;
  bool staged;  // a row of Acc fits in shared memory

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    auto values = team.template shared<Acc>(staged ? dim : 0);
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const T* x = input + row * dim;
      Out* y = output + row * dim;
      if constexpr (kInPlace) {
        in_place(team, x, y);
      } else if (staged) {
        in_shared_memory(team, x, y, values);
      } else {
        in_passes(team, x, y);
      }
    }
  }

 private:
  template <class Team>
  ANVIL_DEVICE void in_place(Team& team, const T* x, Out* y) const {
    const Acc max = team.reduce(dim, -std::numeric_limits<Acc>::infinity(), Maximum{},
                                [&](int64_t i) { return static_cast<Acc>(x[i]); });
    const Acc sum = team.reduce(dim, Acc(0), Add{}, [&](int64_t i) {
      const Acc value = math::exp_of_negative(static_cast<Acc>(x[i]) - max);
      y[i] = value;
      return value;
    });
    const Acc scale = Acc(1) / sum;
    team.for_each(dim, [&](int64_t i) { y[i] = y[i] * scale; });
  }

  // reduce and for_each give an element to the same thread, and reduce has a
  // barrier, so that each pass may overwrite what the one before has left.
  template <class Team, class Values>
  ANVIL_DEVICE void in_shared_memory(Team& team, const T* x, Out* y, Values values) const {
    const Acc max =
        team.reduce(dim, -std::numeric_limits<Acc>::infinity(), Maximum{}, [&](int64_t i) {
          const Acc value = static_cast<Acc>(x[i]);
          values[i] = value;
          return value;
        });
    if constexpr (kLog) {
      const Acc sum = team.reduce(dim, Acc(0), Add{}, [&](int64_t i) {
        return math::exp_of_negative(Acc(values[i]) - max);
      });
      const Acc log_sum = math::log(sum);
      team.for_each(dim,
                    [&](int64_t i) { y[i] = static_cast<Out>(Acc(values[i]) - max - log_sum); });
    } else {
      const Acc sum = team.reduce(dim, Acc(0), Add{}, [&](int64_t i) {
        const Acc value = math::exp_of_negative(Acc(values[i]) - max);
        values[i] = value;
        return value;
      });
      const Acc scale = Acc(1) / sum;
      team.for_each(dim, [&](int64_t i) { y[i] = static_cast<Out>(Acc(values[i]) * scale); });
    }
    team.sync();  // the next row reuses the memory
  }

  template <class Team>
  ANVIL_DEVICE void in_passes(Team& team, const T* x, Out* y) const {
    const Acc max = team.reduce_contiguous(x, dim, -std::numeric_limits<Acc>::infinity(), Maximum{},
                                           [&](T v, int64_t) { return static_cast<Acc>(v); });
    const Acc sum = team.reduce_contiguous(x, dim, Acc(0), Add{}, [&](T v, int64_t) {
      return math::exp_of_negative(static_cast<Acc>(v) - max);
    });
    if constexpr (kLog) {
      const Acc log_sum = math::log(sum);
      team.for_each(
          dim, [&](int64_t i) { y[i] = static_cast<Out>(static_cast<Acc>(x[i]) - max - log_sum); });
    } else {
      const Acc scale = Acc(1) / sum;
      team.for_each(dim, [&](int64_t i) {
        y[i] = static_cast<Out>(math::exp_of_negative(static_cast<Acc>(x[i]) - max) * scale);
      });
    }
  }
};

template <class T, class Out, bool kLog>
struct SoftmaxColumns {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  Pointer<const T> input;
  Pointer<Out> output;
  SoftmaxShape shape;
  int64_t tile;
  int64_t tiles;  // per outer position

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    auto maxima = team.template shared<Acc>(tile);
    auto sums = team.template shared<Acc>(tile);
    for (int64_t unit = team.block(); unit < shape.outer * tiles; unit += team.blocks()) {
      const int64_t outer = unit / tiles;
      const int64_t first = (unit - outer * tiles) * tile;
      const int64_t width = first + tile <= shape.inner ? tile : shape.inner - first;
      const T* x = input + outer * shape.dim * shape.inner + first;
      Out* y = output + outer * shape.dim * shape.inner + first;
      team.for_each(width, [&](int64_t c) { maxima[c] = static_cast<Acc>(x[c]); });
      for (int64_t d = 1; d < shape.dim; ++d) {
        const T* row = x + d * shape.inner;
        team.for_each(width, [&](int64_t c) {
          maxima[c] = Maximum{}(Acc(maxima[c]), static_cast<Acc>(row[c]));
        });
      }
      team.for_each(width, [&](int64_t c) { sums[c] = Acc(0); });
      for (int64_t d = 0; d < shape.dim; ++d) {
        const T* row = x + d * shape.inner;
        team.for_each(width, [&](int64_t c) {
          sums[c] = Acc(sums[c]) + math::exp_of_negative(static_cast<Acc>(row[c]) - Acc(maxima[c]));
        });
      }
      team.for_each(width, [&](int64_t c) {
        sums[c] = kLog ? math::log(Acc(sums[c])) : Acc(1) / Acc(sums[c]);
      });
      for (int64_t d = 0; d < shape.dim; ++d) {
        const T* row = x + d * shape.inner;
        Out* out = y + d * shape.inner;
        team.for_each(width, [&](int64_t c) {
          const Acc shifted = static_cast<Acc>(row[c]) - Acc(maxima[c]);
          out[c] = static_cast<Out>(kLog ? shifted - Acc(sums[c])
                                         : math::exp_of_negative(shifted) * Acc(sums[c]));
        });
      }
    }
  }
};

namespace {

template <class T, class Out, bool kLog>
void launch_forward(
    const char* name, const void* input, void* output, SoftmaxShape shape, cudaStream_t stream) {
  using Acc = Accumulate<T>;
  const T* x = static_cast<const T*>(input);
  Out* y = static_cast<Out*>(output);
  if (shape.inner == 1) {
    const size_t row_bytes = static_cast<size_t>(shape.dim) * sizeof(Acc);
    const bool staged = row_bytes <= kStagedRowBytes;
    launch<SoftmaxRows<T, Out, kLog>>(name,
                                      {.blocks = shape.outer,
                                       .threads = row_threads(shape.dim),
                                       .shared_bytes = staged ? row_bytes : 0},
                                      stream, {x, y, shape.outer, shape.dim, staged});
    return;
  }
  const int64_t tile = std::min(shape.inner, kColumnTile);
  const int64_t tiles = (shape.inner + tile - 1) / tile;
  launch<SoftmaxColumns<T, Out, kLog>>(name,
                                       {.blocks = shape.outer * tiles,
                                        .threads = row_threads(tile * 4),
                                        .shared_bytes = 2 * shared_size<Acc>(tile)},
                                       stream, {x, y, shape, tile, tiles});
}

template <bool kLog>
void forward(const char* name,
             const void* input,
             ScalarType input_dtype,
             void* output,
             ScalarType output_dtype,
             SoftmaxShape shape,
             cudaStream_t stream) {
  dispatch(FloatingTypes{}, input_dtype, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (is_reduced_v<T> && output_dtype == ScalarType::Float) {
      launch_forward<T, float, kLog>(name, input, output, shape, stream);
    } else {
      launch_forward<T, T, kLog>(name, input, output, shape, stream);
    }
  });
}

}  // namespace

void softmax(const void* input,
             ScalarType input_dtype,
             void* output,
             ScalarType output_dtype,
             SoftmaxShape shape,
             cudaStream_t stream) {
  forward<false>("softmax", input, input_dtype, output, output_dtype, shape, stream);
}

void log_softmax(const void* input,
                 ScalarType input_dtype,
                 void* output,
                 ScalarType output_dtype,
                 SoftmaxShape shape,
                 cudaStream_t stream) {
  forward<true>("log_softmax", input, input_dtype, output, output_dtype, shape, stream);
}

const SoftmaxKernels softmax_kernels{
    .softmax = softmax,
    .log_softmax = log_softmax,
    .softmax_backward = softmax_backward,
    .log_softmax_backward = log_softmax_backward,
};

}  // namespace anvil::kernels
