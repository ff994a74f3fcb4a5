#include "aten_ops/kernels/dropout.h"

#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/random_fill.h"

namespace anvil::kernels {

template <class T>
struct ScaleOrDrop {
  // PyTorch multiplies by the draw's outcome and then by 1 / keep, so that an
  // infinity or NaN that is dropped becomes NaN.
  ANVIL_DEVICE static T apply(T value, bool keep, compute_t<T> scale) {
    using C = compute_t<T>;
    return static_cast<T>(static_cast<C>(value) * static_cast<C>(keep) * scale);
  }
};

// Elements a grid apart, as in RandomFill.
template <class T>
struct DropoutStrided {
  static constexpr int kMaxThreads = RandomGrid::kThreads;
  Pointer<const T> input;
  Pointer<T> output;
  Pointer<bool> mask;
  int64_t n;
  compute_t<T> keep, scale;
  PhiloxState state;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    constexpr int kThreads = RandomGrid::kThreads;
    const int64_t grid = team.blocks() * kThreads;
    const int64_t first = team.block() * kThreads;
    for (int64_t round = 0; round * grid * 4 + first < n; ++round) {
      const int64_t begin = round * grid * 4 + first;
      team.for_each(kThreads, [&](int64_t thread) {
        float draws[4];
        DrawUniformFloat::draw(philox_draw(state, first + thread, round), draws);
        ANVIL_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int64_t element = begin + i * grid + thread;
          if (element < n) {
            const bool kept = static_cast<compute_t<T>>(draws[i]) < keep;
            output[element] = ScaleOrDrop<T>::apply(input[element], kept, scale);
            mask[element] = kept;
          }
        }
      });
    }
  }
};

// kVector consecutive elements for a thread; one group of four draws for up to
// four of them (of which a vector of 2 leaves two unused).
template <class T, int kVector>
struct DropoutVector {
  static constexpr int kMaxThreads = RandomGrid::kThreads;
  static constexpr int kGroups = (kVector + 3) / 4;
  Pointer<const T> input;
  Pointer<T> output;
  Pointer<bool> mask;
  int64_t n;
  compute_t<T> keep, scale;
  PhiloxState state;

  struct alignas(sizeof(T) * kVector) Values {
    T value[kVector];
  };
  struct alignas(kVector) Flags {
    bool value[kVector];
  };

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    constexpr int kThreads = RandomGrid::kThreads;
    const int64_t grid = team.blocks() * kThreads;
    const int64_t first = team.block() * kThreads;
    const int64_t vectors = n / kVector;
    const Values* ANVIL_RESTRICT x = reinterpret_cast<const Values*>(input.get());
    Values* ANVIL_RESTRICT y = reinterpret_cast<Values*>(output.get());
    Flags* ANVIL_RESTRICT m = reinterpret_cast<Flags*>(mask.get());
    for (int64_t round = 0; round * grid + first < vectors; ++round) {
      const int64_t begin = round * grid + first;
      const int64_t rest = vectors - begin;
      team.for_each(rest < kThreads ? rest : kThreads, [&](int64_t thread) {
        float draws[kGroups][4];
        ANVIL_UNROLL
        for (int group = 0; group < kGroups; ++group) {
          DrawUniformFloat::draw(philox_draw(state, first + thread, round * kGroups + group),
                                 draws[group]);
        }
        const Values in = x[begin + thread];
        Values out;
        Flags flags;
        ANVIL_UNROLL
        for (int i = 0; i < kVector; ++i) {
          flags.value[i] = static_cast<compute_t<T>>(draws[i / 4][i % 4]) < keep;
          out.value[i] = ScaleOrDrop<T>::apply(in.value[i], flags.value[i], scale);
        }
        y[begin + thread] = out;
        m[begin + thread] = flags;
      });
    }
  }
};

template <class T>
struct MaskedScale {
  static constexpr int64_t kPerBlock = 4096;
  Pointer<const T> input;
  Pointer<const bool> mask;
  Pointer<T> output;
  int64_t n;
  compute_t<T> scale;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t begin = team.block() * kPerBlock; begin < n; begin += team.blocks() * kPerBlock) {
      const T* ANVIL_RESTRICT x = input + begin;
      const bool* ANVIL_RESTRICT m = mask + begin;
      T* ANVIL_RESTRICT y = output + begin;
      const compute_t<T> s = scale;
      team.for_each(n - begin < kPerBlock ? n - begin : kPerBlock, [=](int64_t i) {
        using C = compute_t<T>;
        y[i] = static_cast<T>(static_cast<C>(m[i]) * static_cast<C>(x[i]) * s);
      });
    }
  }
};

void dropout(const void* input,
             void* output,
             bool* mask,
             ScalarType dtype,
             int64_t n,
             double keep,
             int vector,
             RandomGrid grid,
             PhiloxState state,
             cudaStream_t stream) {
  dispatch(FloatingTypes{}, dtype, "dropout", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    const LaunchConfig config{.blocks = grid.blocks, .threads = RandomGrid::kThreads};
    const auto start = [&]<class Kernel>(TypeTag<Kernel>) {
      launch<Kernel>("dropout", config, stream,
                     {static_cast<const T*>(input), static_cast<T*>(output), mask, n,
                      static_cast<C>(keep), static_cast<C>(1.0 / static_cast<C>(keep)), state});
    };
    if (vector == 1) {
      start(TypeTag<DropoutStrided<T>>{});
    } else if (vector == 2) {
      start(TypeTag<DropoutVector<T, 2>>{});
    } else if constexpr (sizeof(T) <= 4) {
      if (vector == 4) {
        start(TypeTag<DropoutVector<T, 4>>{});
      } else if constexpr (sizeof(T) <= 2) {
        start(TypeTag<DropoutVector<T, 8>>{});
      }
    }
  });
}

void masked_scale(const void* input,
                  const bool* mask,
                  void* output,
                  ScalarType dtype,
                  int64_t n,
                  double scale,
                  cudaStream_t stream) {
  dispatch(FloatingTypes{}, dtype, "masked_scale", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Kernel = MaskedScale<T>;
    launch<Kernel>("masked_scale", {.blocks = blocks_for(n, Kernel::kPerBlock)}, stream,
                   {static_cast<const T*>(input), mask, static_cast<T*>(output), n,
                    static_cast<compute_t<T>>(scale)});
  });
}

const DropoutKernels dropout_kernels{.dropout = dropout, .masked_scale = masked_scale};

}  // namespace anvil::kernels
