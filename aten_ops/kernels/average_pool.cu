// Average pooling, with a fixed window and adaptive.
#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/pooling_kernels.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

// The part of a window that lies on the image, along one dimension.
struct PoolRange {
  int64_t begin;
  int64_t end;
};

// Windows of fixed size, and what an average over one divides by.
struct FixedWindows {
  PoolShape shape;
  AveragePool pool;

  ANVIL_DEVICE PoolRange rows(int64_t out) const {
    const int64_t begin = out * pool.window.stride_height - pool.window.pad_height;
    return {at_least(begin, 0), at_most(begin + pool.window.height, shape.in_height)};
  }
  ANVIL_DEVICE PoolRange columns(int64_t out) const {
    const int64_t begin = out * pool.window.stride_width - pool.window.pad_width;
    return {at_least(begin, 0), at_most(begin + pool.window.width, shape.in_width)};
  }
  // Windows that contain a position of the input.
  ANVIL_DEVICE PoolRange windows_of_row(int64_t in) const {
    return windows(in + pool.window.pad_height, pool.window.height, pool.window.stride_height,
                   shape.out_height);
  }
  ANVIL_DEVICE PoolRange windows_of_column(int64_t in) const {
    return windows(in + pool.window.pad_width, pool.window.width, pool.window.stride_width,
                   shape.out_width);
  }
  ANVIL_DEVICE int64_t divisor(int64_t out_h, int64_t out_w) const {
    if (pool.divisor_override != 0) {
      return pool.divisor_override;
    }
    if (!pool.count_include_pad) {
      const PoolRange h = rows(out_h);
      const PoolRange w = columns(out_w);
      return (h.end - h.begin) * (w.end - w.begin);
    }
    const int64_t h = out_h * pool.window.stride_height - pool.window.pad_height;
    const int64_t w = out_w * pool.window.stride_width - pool.window.pad_width;
    return (at_most(h + pool.window.height, shape.in_height + pool.window.pad_height) - h) *
           (at_most(w + pool.window.width, shape.in_width + pool.window.pad_width) - w);
  }

 private:
  static ANVIL_DEVICE PoolRange windows(int64_t padded,
                                        int64_t size,
                                        int64_t stride,
                                        int64_t count) {
    const int64_t begin = padded < size ? 0 : divide(padded - size, stride) + 1;
    return {begin, at_most(divide(padded, stride) + 1, count)};
  }
};

struct AdaptiveWindows {
  PoolShape shape;

  ANVIL_DEVICE PoolRange rows(int64_t out) const {
    return range(out, shape.in_height, shape.out_height);
  }
  ANVIL_DEVICE PoolRange columns(int64_t out) const {
    return range(out, shape.in_width, shape.out_width);
  }
  ANVIL_DEVICE PoolRange windows_of_row(int64_t in) const {
    return range(in, shape.out_height, shape.in_height);
  }
  ANVIL_DEVICE PoolRange windows_of_column(int64_t in) const {
    return range(in, shape.out_width, shape.in_width);
  }
  ANVIL_DEVICE int64_t divisor(int64_t out_h, int64_t out_w) const {
    const PoolRange h = rows(out_h);
    const PoolRange w = columns(out_w);
    return (h.end - h.begin) * (w.end - w.begin);
  }

 private:
  // [floor(i * to / from), ceil((i + 1) * to / from)): the inputs of an output,
  // and, with the sides exchanged, the outputs of an input.
  static ANVIL_DEVICE PoolRange range(int64_t i, int64_t to, int64_t from) {
    return {divide(i * to, from), divide((i + 1) * to + from - 1, from)};
  }
};

template <class T, class Windows>
struct AveragePoolBody {
  using Acc = Accumulate<T>;
  Pointer<const T> input;
  Pointer<T> output;
  Windows windows;

  ANVIL_DEVICE void operator()(int64_t i) const {
    const PoolShape& shape = windows.shape;
    const PoolPosition out = pool_position(shape, i, shape.out_height, shape.out_width);
    const PoolPlane in = pool_plane(shape, out.plane, shape.in_height, shape.in_width);
    const PoolRange rows = windows.rows(out.h);
    const PoolRange columns = windows.columns(out.w);
    Acc sum = 0;
    for (int64_t h = rows.begin; h < rows.end; ++h) {
      for (int64_t w = columns.begin; w < columns.end; ++w) {
        sum += static_cast<Acc>(input[in.base + (h * shape.in_width + w) * in.step]);
      }
    }
    // A window beside the image (in ceil mode) averages nothing.
    const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
    output[i] =
        empty ? T(0) : static_cast<T>(sum / static_cast<Acc>(windows.divisor(out.h, out.w)));
  }
};

template <class T, class Windows>
struct AveragePoolBackwardBody {
  using Acc = Accumulate<T>;
  Pointer<const T> grad_output;
  Pointer<T> grad_input;
  Windows windows;

  ANVIL_DEVICE void operator()(int64_t i) const {
    const PoolShape& shape = windows.shape;
    const PoolPosition in = pool_position(shape, i, shape.in_height, shape.in_width);
    const PoolPlane out = pool_plane(shape, in.plane, shape.out_height, shape.out_width);
    const PoolRange rows = windows.windows_of_row(in.h);
    const PoolRange columns = windows.windows_of_column(in.w);
    Acc sum = 0;
    for (int64_t h = rows.begin; h < rows.end; ++h) {
      for (int64_t w = columns.begin; w < columns.end; ++w) {
        sum += static_cast<Acc>(grad_output[out.base + (h * shape.out_width + w) * out.step]) /
               static_cast<Acc>(windows.divisor(h, w));
      }
    }
    grad_input[i] = static_cast<T>(sum);
  }
};

namespace {

// Runs Body<T, Windows> for each of the `numel` elements that it writes.
template <template <class, class> class Body, class Windows>
void launch_average(const char* name,
                    const void* from,
                    void* to,
                    ScalarType dtype,
                    const Windows& windows,
                    int64_t numel,
                    cudaStream_t stream) {
  dispatch(FloatingTypes{}, dtype, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Body<T, Windows> body{static_cast<const T*>(from), static_cast<T*>(to), windows};
    for_each_pool_element(name, body, numel, stream);
  });
}

int64_t inputs(const PoolShape& shape) {
  return shape.batch * shape.channels * shape.in_height * shape.in_width;
}
int64_t outputs(const PoolShape& shape) {
  return shape.batch * shape.channels * shape.out_height * shape.out_width;
}

}  // namespace

void average_pool(const void* input,
                  void* output,
                  ScalarType dtype,
                  const PoolShape& shape,
                  const AveragePool& pool,
                  cudaStream_t stream) {
  launch_average<AveragePoolBody>("avg_pool2d", input, output, dtype, FixedWindows{shape, pool},
                                  outputs(shape), stream);
}

void average_pool_backward(const void* grad_output,
                           void* grad_input,
                           ScalarType dtype,
                           const PoolShape& shape,
                           const AveragePool& pool,
                           cudaStream_t stream) {
  launch_average<AveragePoolBackwardBody>("avg_pool2d_backward", grad_output, grad_input, dtype,
                                          FixedWindows{shape, pool}, inputs(shape), stream);
}

void adaptive_average_pool(const void* input,
                           void* output,
                           ScalarType dtype,
                           const PoolShape& shape,
                           cudaStream_t stream) {
  launch_average<AveragePoolBody>("adaptive_avg_pool2d", input, output, dtype,
                                  AdaptiveWindows{shape}, outputs(shape), stream);
}

void adaptive_average_pool_backward(const void* grad_output,
                                    void* grad_input,
                                    ScalarType dtype,
                                    const PoolShape& shape,
                                    cudaStream_t stream) {
  launch_average<AveragePoolBackwardBody>("adaptive_avg_pool2d_backward", grad_output, grad_input,
                                          dtype, AdaptiveWindows{shape}, inputs(shape), stream);
}

}  // namespace anvil::kernels
