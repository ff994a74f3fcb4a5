// Gradients of softmax and log-softmax:
//   softmax       grad_input = output * (grad_output - sum(grad_output * output))
//   log_softmax   grad_input = grad_output - exp(output) * sum(grad_output)
#include <algorithm>

#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/math.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/softmax_kernels.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

template <class Acc, bool kLog>
struct SoftmaxGradient {
  static ANVIL_DEVICE Acc term(Acc grad, Acc y) { return kLog ? grad : grad * y; }
  static ANVIL_DEVICE Acc value(Acc grad, Acc y, Acc sum) {
    return kLog ? grad - math::exp(y) * sum : y * (grad - sum);
  }
};

template <class T, class In, bool kLog>
struct SoftmaxBackwardRows {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  using Gradient = SoftmaxGradient<Acc, kLog>;
  Pointer<const T> grad_output;
  Pointer<const T> output;
  Pointer<In> grad_input;
  int64_t rows;
  int64_t dim;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const T* grad = grad_output + row * dim;
      const T* y = output + row * dim;
      In* out = grad_input + row * dim;
      const Acc sum = team.reduce(dim, Acc(0), Add{}, [&](int64_t i) {
        return Gradient::term(static_cast<Acc>(grad[i]), static_cast<Acc>(y[i]));
      });
      team.for_each(dim, [&](int64_t i) {
        out[i] = static_cast<In>(
            Gradient::value(static_cast<Acc>(grad[i]), static_cast<Acc>(y[i]), sum));
      });
    }
  }
};

template <class T, class In, bool kLog>
struct SoftmaxBackwardColumns {
  using Acc = Accumulate<T>;
  static constexpr int kMaxThreads = 256;
  using Gradient = SoftmaxGradient<Acc, kLog>;
  Pointer<const T> grad_output;
  Pointer<const T> output;
  Pointer<In> grad_input;
  SoftmaxShape shape;
  int64_t tile;
  int64_t tiles;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    auto sums = team.template shared<Acc>(tile);
    for (int64_t unit = team.block(); unit < shape.outer * tiles; unit += team.blocks()) {
      const int64_t outer = unit / tiles;
      const int64_t first = (unit - outer * tiles) * tile;
      const int64_t width = first + tile <= shape.inner ? tile : shape.inner - first;
      const int64_t base = outer * shape.dim * shape.inner + first;
      team.for_each(width, [&](int64_t c) { sums[c] = Acc(0); });
      for (int64_t d = 0; d < shape.dim; ++d) {
        const T* grad = grad_output + base + d * shape.inner;
        const T* y = output + base + d * shape.inner;
        team.for_each(width, [&](int64_t c) {
          sums[c] =
              Acc(sums[c]) + Gradient::term(static_cast<Acc>(grad[c]), static_cast<Acc>(y[c]));
        });
      }
      for (int64_t d = 0; d < shape.dim; ++d) {
        const T* grad = grad_output + base + d * shape.inner;
        const T* y = output + base + d * shape.inner;
        In* out = grad_input + base + d * shape.inner;
        team.for_each(width, [&](int64_t c) {
          out[c] = static_cast<In>(
              Gradient::value(static_cast<Acc>(grad[c]), static_cast<Acc>(y[c]), Acc(sums[c])));
        });
      }
    }
  }
};

namespace {

template <class T, class In, bool kLog>
void launch_backward(const char* name,
                     const void* grad_output,
                     const void* output,
                     void* grad_input,
                     SoftmaxShape shape,
                     cudaStream_t stream) {
  const T* grad = static_cast<const T*>(grad_output);
  const T* y = static_cast<const T*>(output);
  In* out = static_cast<In*>(grad_input);
  if (shape.inner == 1) {
    launch<SoftmaxBackwardRows<T, In, kLog>>(
        name, {.blocks = shape.outer, .threads = row_threads(shape.dim)}, stream,
        {grad, y, out, shape.outer, shape.dim});
    return;
  }
  const int64_t tile = std::min(shape.inner, kColumnTile);
  const int64_t tiles = (shape.inner + tile - 1) / tile;
  launch<SoftmaxBackwardColumns<T, In, kLog>>(name,
                                              {.blocks = shape.outer * tiles,
                                               .threads = row_threads(tile * 4),
                                               .shared_bytes = shared_size<Accumulate<T>>(tile)},
                                              stream, {grad, y, out, shape, tile, tiles});
}

template <bool kLog>
void backward(const char* name,
              const void* grad_output,
              const void* output,
              ScalarType dtype,
              void* grad_input,
              ScalarType input_dtype,
              SoftmaxShape shape,
              cudaStream_t stream) {
  if (dtype == ScalarType::Float && input_dtype == ScalarType::Half) {
    launch_backward<float, Half, kLog>(name, grad_output, output, grad_input, shape, stream);
  } else if (dtype == ScalarType::Float && input_dtype == ScalarType::BFloat16) {
    launch_backward<float, BFloat16, kLog>(name, grad_output, output, grad_input, shape, stream);
  } else {
    dispatch(FloatingTypes{}, dtype, name, [&](auto tag) {
      using T = typename decltype(tag)::type;
      launch_backward<T, T, kLog>(name, grad_output, output, grad_input, shape, stream);
    });
  }
}

}  // namespace

void softmax_backward(const void* grad_output,
                      const void* output,
                      ScalarType dtype,
                      void* grad_input,
                      ScalarType input_dtype,
                      SoftmaxShape shape,
                      cudaStream_t stream) {
  backward<false>("softmax_backward", grad_output, output, dtype, grad_input, input_dtype, shape,
                  stream);
}

void log_softmax_backward(const void* grad_output,
                          const void* output,
                          ScalarType dtype,
                          void* grad_input,
                          ScalarType input_dtype,
                          SoftmaxShape shape,
                          cudaStream_t stream) {
  backward<true>("log_softmax_backward", grad_output, output, dtype, grad_input, input_dtype, shape,
                 stream);
}

}  // namespace anvil::kernels
