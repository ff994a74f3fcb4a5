#include "aten_ops/kernels/random_discrete.h"

#include <cmath>
#include <limits>

#include "aten_ops/kernels/device_check.h"
#include "aten_ops/kernels/random_fill.h"
#include "aten_ops/kernels/type_lists.h"

namespace anvil::kernels {

// The integer `value` as a T, by way of int64 as in PyTorch.
template <class T>
ANVIL_DEVICE T from_integer(uint64_t value) {
  const auto as_signed = static_cast<int64_t>(value);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<T>(static_cast<float>(as_signed));
  } else {
    return static_cast<T>(as_signed);
  }
}

// The number of values that random_() without bounds draws from.
template <class T>
ANVIL_DEVICE constexpr uint64_t random_range() {
  if constexpr (std::is_same_v<T, bool>) {
    return 2;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  } else {
    return (uint64_t{1} << std::numeric_limits<T>::digits) + 1;
  }
}

template <class T>
struct ToBernoulli {
  std::conditional_t<std::is_same_v<T, double>, double, float> p;
  template <class C>
  ANVIL_DEVICE T operator()(C value) const {
    return static_cast<T>(static_cast<float>(value < p));
  }
};

template <class T>
struct ToGeometric {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  C log_failure;  // log(1 - p)
  ANVIL_DEVICE T operator()(C value) const {
    return static_cast<T>(ceil(log(value) / log_failure));
  }
};

template <class T>
struct ToRange {
  uint64_t range;
  int64_t base;
  ANVIL_DEVICE T operator()(uint64_t value) const {
    return from_integer<T>(value % range + static_cast<uint64_t>(base));
  }
  ANVIL_DEVICE T operator()(uint32_t value) const {
    // With 32-bit draws the range is below 2^28: a 32-bit division will do.
    return from_integer<T>(value % static_cast<uint32_t>(range) + static_cast<uint64_t>(base));
  }
};

template <class T>
struct ToFullRange {
  ANVIL_DEVICE T operator()(uint64_t value) const { return from_integer<T>(value); }
};

template <class T>
struct ToInteger {
  ANVIL_DEVICE T operator()(uint64_t value) const {
    return from_integer<T>(value % random_range<T>());
  }
  ANVIL_DEVICE T operator()(uint32_t value) const {
    if constexpr (random_range<T>() > UINT32_MAX) {
      return from_integer<T>(value);
    } else {
      return from_integer<T>(value % static_cast<uint32_t>(random_range<T>()));
    }
  }
};

void bernoulli(
    const RandomOutput& output, RandomGrid grid, PhiloxState state, double p, cudaStream_t stream) {
  dispatch(RealTypes{}, output.dtype, "bernoulli", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = typename DrawUniform<T>::value_type;
    random_fill<T, DrawUniform<T>>("bernoulli", output, grid, state,
                                   ToBernoulli<T>{static_cast<C>(p)}, stream);
  });
}

void geometric(
    const RandomOutput& output, RandomGrid grid, PhiloxState state, double p, cudaStream_t stream) {
  using Types = TypeList<float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t, int64_t>;
  dispatch(Types{}, output.dtype, "geometric", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = typename DrawUniform<T>::value_type;
    random_fill<T, DrawUniform<T>>("geometric", output, grid, state,
                                   ToGeometric<T>{std::log1p(-static_cast<C>(p))}, stream);
  });
}

void random_from_to(const RandomOutput& output,
                    RandomGrid grid,
                    PhiloxState state,
                    uint64_t range,
                    int64_t base,
                    cudaStream_t stream) {
  using Types = TypeList<float, double, Half, BFloat16, bool, uint8_t, int8_t, int16_t, int32_t,
                         int64_t, uint16_t, uint32_t, uint64_t>;
  dispatch(Types{}, output.dtype, "random_from_to", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const ToRange<T> transform{range, base};
    if (range >= (uint64_t{1} << 28)) {
      random_fill<T, DrawUint64>("random_from_to", output, grid, state, transform, stream);
    } else {
      random_fill<T, DrawUint32>("random_from_to", output, grid, state, transform, stream);
    }
  });
}

void random_full_range(const RandomOutput& output,
                       RandomGrid grid,
                       PhiloxState state,
                       cudaStream_t stream) {
  dispatch<int64_t, double, float, BFloat16>(output.dtype, "random_full_range", [&](auto tag) {
    using T = typename decltype(tag)::type;
    random_fill<T, DrawUint64>("random_full_range", output, grid, state, ToFullRange<T>{}, stream);
  });
}

void random(const RandomOutput& output, RandomGrid grid, PhiloxState state, cudaStream_t stream) {
  dispatch(RealTypes{}, output.dtype, "random", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Draw = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, int64_t>,
                                    DrawUint64, DrawUint32>;
    random_fill<T, Draw>("random", output, grid, state, ToInteger<T>{}, stream);
  });
}

// Four consecutive elements for a thread, one group of draws for them.
template <class T, class P>
struct BernoulliTensor {
  static constexpr int64_t kPerBlock = 2048;
  Pointer<T> output;
  Pointer<const P> p;
  Dims<1> dims;
  int64_t n;
  PhiloxState state;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t begin = team.block() * kPerBlock; begin < n; begin += team.blocks() * kPerBlock) {
      const int64_t quads = ((n - begin < kPerBlock ? n - begin : kPerBlock) + 3) / 4;
      team.for_each(quads, [&](int64_t quad) {
        const int64_t first = begin + quad * 4;
        float draws[4];
        DrawUniformFloat::draw(philox_draw(state, first / 4, 0), draws);
        for (int i = 0; i < 4; ++i) {
          if (first + i < n) {
            const P probability = p[first + i];
            device_check(probability >= 0 && probability <= 1,
                         "bernoulli: a probability lies outside of [0, 1]");
            output[dims.offset(0, first + i)] =
                static_cast<T>(static_cast<float>(draws[i] <= probability));
          }
        }
      });
    }
  }
};

void bernoulli_tensor(const RandomOutput& output,
                      const void* p,
                      PhiloxState state,
                      cudaStream_t stream) {
  dispatch(RealTypes{}, output.dtype, "bernoulli_tensor", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using P = std::conditional_t<std::is_same_v<T, double>, double, float>;
    using Kernel = BernoulliTensor<T, P>;
    const int64_t n = output.dims.numel();
    launch<Kernel>("bernoulli_tensor", {.blocks = blocks_for(n, Kernel::kPerBlock)}, stream,
                   {static_cast<T*>(output.data), static_cast<const P*>(p), output.dims, n, state});
  });
}

// One thread for each run of equal keys: the one at the run's start.
template <class Key, class Value>
struct ShuffleEqualKeys {
  static constexpr int64_t kPerBlock = 512;
  Pointer<const Key> keys;
  Pointer<Value> values;
  int64_t n;
  Key mask;
  PhiloxState state;

  ANVIL_DEVICE bool equal(int64_t i, int64_t j) const { return ((keys[i] ^ keys[j]) & mask) == 0; }

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t begin = team.block() * kPerBlock; begin < n; begin += team.blocks() * kPerBlock) {
      team.for_each(n - begin < kPerBlock ? n - begin : kPerBlock, [&](int64_t offset) {
        const int64_t i = begin + offset;
        if (i + 1 >= n || !equal(i, i + 1) || (i > 0 && equal(i - 1, i))) {
          return;
        }
        int64_t length = 2;
        while (i + length < n && equal(i, i + length)) {
          ++length;
        }
        for (int64_t last = length - 1, draw = 0; last > 0; --last, ++draw) {
          const Uint4 draws = philox_draw(state, i, draw / 4);
          const uint32_t bits = draw % 4 == 0   ? draws.x
                                : draw % 4 == 1 ? draws.y
                                : draw % 4 == 2 ? draws.z
                                                : draws.w;
          const auto other = static_cast<int64_t>(bits % static_cast<uint32_t>(last + 1));
          const Value value = values[i + last];
          values[i + last] = values[i + other];
          values[i + other] = value;
        }
      });
    }
  }
};

template <class Key>
void shuffle_values(const void* keys,
                    void* values,
                    int value_bytes,
                    int64_t n,
                    int bits,
                    PhiloxState state,
                    cudaStream_t stream) {
  const ScalarType word = value_bytes == 1   ? ScalarType::Byte
                          : value_bytes == 2 ? ScalarType::Short
                          : value_bytes == 4 ? ScalarType::Int
                                             : ScalarType::Long;
  const Key mask =
      bits >= static_cast<int>(8 * sizeof(Key)) ? static_cast<Key>(-1) : (Key{1} << bits) - 1;
  dispatch<uint8_t, int16_t, int32_t, int64_t>(word, "shuffle_equal_keys", [&](auto tag) {
    using Value = typename decltype(tag)::type;
    using Kernel = ShuffleEqualKeys<Key, Value>;
    launch<Kernel>("shuffle_equal_keys", {.blocks = blocks_for(n, Kernel::kPerBlock)}, stream,
                   {static_cast<const Key*>(keys), static_cast<Value*>(values), n, mask, state});
  });
}

void shuffle_equal_keys(const void* keys,
                        ScalarType key_dtype,
                        void* values,
                        int value_bytes,
                        int64_t n,
                        int bits,
                        PhiloxState state,
                        cudaStream_t stream) {
  if (key_dtype == ScalarType::Int) {
    shuffle_values<int32_t>(keys, values, value_bytes, n, bits, state, stream);
  } else {
    shuffle_values<int64_t>(keys, values, value_bytes, n, bits, state, stream);
  }
}

}  // namespace anvil::kernels
