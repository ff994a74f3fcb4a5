// Max pooling.
#include <limits>

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/pooling_kernels.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

template <class T>
struct MaxPoolBody {
  using Acc = Accumulate<T>;
  Pointer<const T> input;
  Pointer<T> output;
  Pointer<int64_t> indices;
  PoolShape shape;
  PoolWindow window;

  ANVIL_DEVICE void operator()(int64_t i) const {
    const PoolPosition out = pool_position(shape, i, shape.out_height, shape.out_width);
    const PoolPlane in = pool_plane(shape, out.plane, shape.in_height, shape.in_width);
    const int64_t h_begin =
        first_inside(out.h * window.stride_height - window.pad_height, window.dilation_height);
    const int64_t w_begin =
        first_inside(out.w * window.stride_width - window.pad_width, window.dilation_width);
    const int64_t h_end = at_most(out.h * window.stride_height - window.pad_height +
                                      (window.height - 1) * window.dilation_height + 1,
                                  shape.in_height);
    const int64_t w_end = at_most(out.w * window.stride_width - window.pad_width +
                                      (window.width - 1) * window.dilation_width + 1,
                                  shape.in_width);
    int64_t best = h_begin * shape.in_width + w_begin;
    Acc maximum = -std::numeric_limits<Acc>::infinity();
    for (int64_t h = h_begin; h < h_end; h += window.dilation_height) {
      for (int64_t w = w_begin; w < w_end; w += window.dilation_width) {
        const int64_t position = h * shape.in_width + w;
        const Acc value = static_cast<Acc>(input[in.base + position * in.step]);
        if (value > maximum || is_nan(value)) {
          maximum = value;
          best = position;
        }
      }
    }
    output[i] = static_cast<T>(maximum);
    indices[i] = best;
  }

 private:
  // The first of begin, begin + step, ... that is not negative.
  static ANVIL_DEVICE int64_t first_inside(int64_t begin, int64_t step) {
    return begin >= 0 ? begin : begin + divide(-begin + step - 1, step) * step;
  }
};

// An element's gradient comes from the windows that contain it and chose it.
template <class T>
struct MaxPoolBackwardBody {
  using Acc = Accumulate<T>;
  Pointer<const T> grad_output;
  Pointer<const int64_t> indices;
  Pointer<T> grad_input;
  PoolShape shape;
  PoolWindow window;

  ANVIL_DEVICE void operator()(int64_t i) const {
    const PoolPosition in = pool_position(shape, i, shape.in_height, shape.in_width);
    const PoolPlane out = pool_plane(shape, in.plane, shape.out_height, shape.out_width);
    const int64_t position = in.h * shape.in_width + in.w;
    const int64_t h_begin = first_window(in.h + window.pad_height, window.height,
                                         window.dilation_height, window.stride_height);
    const int64_t w_begin = first_window(in.w + window.pad_width, window.width,
                                         window.dilation_width, window.stride_width);
    const int64_t h_end =
        at_most(divide(in.h + window.pad_height, window.stride_height) + 1, shape.out_height);
    const int64_t w_end =
        at_most(divide(in.w + window.pad_width, window.stride_width) + 1, shape.out_width);
    Acc sum = 0;
    for (int64_t h = h_begin; h < h_end; ++h) {
      for (int64_t w = w_begin; w < w_end; ++w) {
        const int64_t offset = out.base + (h * shape.out_width + w) * out.step;
        if (indices[offset] == position) {
          sum += static_cast<Acc>(grad_output[offset]);
        }
      }
    }
    grad_input[i] = static_cast<T>(sum);
  }

 private:
  // The first window that reaches a padded position.
  static ANVIL_DEVICE int64_t first_window(int64_t padded,
                                           int64_t size,
                                           int64_t dilation,
                                           int64_t stride) {
    const int64_t reach = padded - (size - 1) * dilation;
    return reach <= 0 ? 0 : divide(reach + stride - 1, stride);
  }
};

void max_pool(const void* input,
              void* output,
              void* indices,
              ScalarType dtype,
              const PoolShape& shape,
              const PoolWindow& window,
              cudaStream_t stream) {
  dispatch(FloatingTypes{}, dtype, "max_pool2d", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const MaxPoolBody<T> body{static_cast<const T*>(input), static_cast<T*>(output),
                              static_cast<int64_t*>(indices), shape, window};
    for_each_pool_element("max_pool2d", body,
                          shape.batch * shape.channels * shape.out_height * shape.out_width,
                          stream);
  });
}

void max_pool_backward(const void* grad_output,
                       const void* indices,
                       void* grad_input,
                       ScalarType dtype,
                       const PoolShape& shape,
                       const PoolWindow& window,
                       cudaStream_t stream) {
  dispatch(FloatingTypes{}, dtype, "max_pool2d_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const MaxPoolBackwardBody<T> body{static_cast<const T*>(grad_output),
                                      static_cast<const int64_t*>(indices),
                                      static_cast<T*>(grad_input), shape, window};
    for_each_pool_element("max_pool2d_backward", body,
                          shape.batch * shape.channels * shape.in_height * shape.in_width, stream);
  });
}

const PoolingKernels pooling_kernels{
    .max = max_pool,
    .max_backward = max_pool_backward,
    .average = average_pool,
    .average_backward = average_pool_backward,
    .adaptive_average = adaptive_average_pool,
    .adaptive_average_backward = adaptive_average_pool_backward,
};

}  // namespace anvil::kernels
