// The driver of random fills: draws, mapping to elements, store.
#pragma once

#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/normal_transform.h"
#include "aten_ops/kernels/random.h"

namespace anvil::kernels {

// How four draws become values for elements that are a grid apart.
struct DrawUint32 {
  using value_type = uint32_t;
  static constexpr int kUnroll = 4;
  ANVIL_DEVICE static void draw(Uint4 x, uint32_t (&out)[4]) {
    out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
  }
};

struct DrawUint64 {
  using value_type = uint64_t;
  static constexpr int kUnroll = 2;
  ANVIL_DEVICE static void draw(Uint4 x, uint64_t (&out)[2]) {
    out[0] = (static_cast<uint64_t>(x.x) << 32) | x.y;
    out[1] = (static_cast<uint64_t>(x.z) << 32) | x.w;
  }
};

struct DrawUniformFloat {
  using value_type = float;
  static constexpr int kUnroll = 4;
  ANVIL_DEVICE static void draw(Uint4 x, float (&out)[4]) {
    out[0] = uniform_float(x.x), out[1] = uniform_float(x.y);
    out[2] = uniform_float(x.z), out[3] = uniform_float(x.w);
  }
};

struct DrawUniformDouble {
  using value_type = double;
  static constexpr int kUnroll = 2;
  ANVIL_DEVICE static void draw(Uint4 x, double (&out)[2]) {
    out[0] = uniform_double(x.x, x.y), out[1] = uniform_double(x.z, x.w);
  }
};

struct DrawNormalFloat {
  using value_type = float;
  static constexpr int kUnroll = 4;
  ANVIL_DEVICE static void draw(Uint4 x, float (&out)[4]) {
    const Float2 a = box_muller(x.x, x.y), b = box_muller(x.z, x.w);
    out[0] = a.x, out[1] = a.y, out[2] = b.x, out[3] = b.y;
  }
};

struct DrawNormalDouble {
  using value_type = double;
  static constexpr int kUnroll = 2;
  ANVIL_DEVICE static void draw(Uint4 x, double (&out)[2]) {
    const Double2 a = box_muller_double(x);
    out[0] = a.x, out[1] = a.y;
  }
};

// Uniform and normal draws for elements of T.
template <class T>
using DrawUniform =
    std::conditional_t<std::is_same_v<T, double>, DrawUniformDouble, DrawUniformFloat>;
template <class T>
using DrawNormal = std::conditional_t<std::is_same_v<T, double>, DrawNormalDouble, DrawNormalFloat>;

// output[i] = transform(draw), where element i belongs to the thread, round and
// component that RandomGrid describes. kDense: the output is one run.
template <class T, class Draw, class Transform, bool kDense>
struct RandomFill {
  static constexpr int kMaxThreads = RandomGrid::kThreads;

  Pointer<T> output;
  Dims<1> dims;
  int64_t n;
  PhiloxState state;
  Transform transform;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    constexpr int kThreads = RandomGrid::kThreads;
    constexpr int kUnroll = Draw::kUnroll;
    const int64_t grid = team.blocks() * kThreads;
    const int64_t first = team.block() * kThreads;
    T* ANVIL_RESTRICT out = output;
    for (int64_t round = 0; round * grid * kUnroll + first < n; ++round) {
      const int64_t begin = round * grid * kUnroll + first;
      if (kDense && begin + (kUnroll - 1) * grid + kThreads <= n) {
        team.for_each(kThreads, [&](int64_t thread) {
          typename Draw::value_type values[kUnroll];
          Draw::draw(philox_draw(state, first + thread, round), values);
          ANVIL_UNROLL
          for (int i = 0; i < kUnroll; ++i) {
            out[begin + i * grid + thread] = transform(values[i]);
          }
        });
      } else {
        team.for_each(kThreads, [&](int64_t thread) {
          typename Draw::value_type values[kUnroll];
          Draw::draw(philox_draw(state, first + thread, round), values);
          ANVIL_UNROLL
          for (int i = 0; i < kUnroll; ++i) {
            const int64_t element = begin + i * grid + thread;
            if (element < n) {
              out[kDense ? element : dims.offset(0, element)] = transform(values[i]);
            }
          }
        });
      }
    }
  }
};

template <class T, class Draw, class Transform>
void random_fill(const char* name,
                 const RandomOutput& output,
                 RandomGrid grid,
                 PhiloxState state,
                 Transform transform,
                 cudaStream_t stream) {
  const int64_t n = output.dims.numel();
  const LaunchConfig config{.blocks = grid.blocks, .threads = RandomGrid::kThreads};
  T* data = static_cast<T*>(output.data);
  if (output.dims.count == 0 || (output.dims.count == 1 && output.dims.stride[0][0] == 1)) {
    launch<RandomFill<T, Draw, Transform, true>>(name, config, stream,
                                                 {data, output.dims, n, state, transform});
  } else {
    launch<RandomFill<T, Draw, Transform, false>>(name, config, stream,
                                                  {data, output.dims, n, state, transform});
  }
}

}  // namespace anvil::kernels
