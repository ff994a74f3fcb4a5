#include "aten_ops/kernels/random.h"

#include <cmath>
#include <limits>

#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/random_discrete.h"
#include "aten_ops/kernels/random_fill.h"

namespace anvil::kernels {

// A fused multiply-add, as nvcc makes of a * b + c.
ANVIL_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
ANVIL_DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }

// The distance from 1 to the next number.
template <class C>
inline constexpr C epsilon = std::numeric_limits<C>::epsilon();

// Uniform on [from, to): the draws are on (0, 1], so a value that came out as
// `to` becomes `from`.
template <class T>
struct ToUniform {
  compute_t<T> range;
  T from, to;
  ANVIL_DEVICE T operator()(compute_t<T> value) const {
    const T result = static_cast<T>(multiply_add(value, range, static_cast<compute_t<T>>(from)));
    return static_cast<compute_t<T>>(result) == static_cast<compute_t<T>>(to) ? from : result;
  }
};

template <class T>
struct ToNormal {
  compute_t<T> mean, std;
  ANVIL_DEVICE T operator()(compute_t<T> value) const {
    return static_cast<T>(multiply_add(value, std, mean));
  }
};

template <class T>
struct ToLogNormal {
  compute_t<T> mean, std;
  ANVIL_DEVICE T operator()(compute_t<T> value) const {
    return static_cast<T>(exp(multiply_add(value, std, mean)));
  }
};

// The natural logarithm as PyTorch's CUDA kernels take it: approximate in float.
ANVIL_DEVICE float fast_log(float x) {
#if defined(__CUDA_ARCH__)
  return __logf(x);
#else
  return logf(x);
#endif
}
ANVIL_DEVICE double fast_log(double x) { return log(x); }

template <class T>
struct ToExponential {
  compute_t<T> lambda;
  ANVIL_DEVICE T operator()(compute_t<T> value) const {
    using C = compute_t<T>;
    // log(1) is 0, which the distribution excludes; close to 1 it underflows.
    constexpr C kHalfEpsilon = epsilon<C> / 2;
    const C log_value = value >= C(1) - kHalfEpsilon ? -kHalfEpsilon : fast_log(value);
    return static_cast<T>(C(-1) / lambda * log_value);
  }
};

template <class T>
struct ToCauchy {
  compute_t<T> median, sigma;
  ANVIL_DEVICE T operator()(compute_t<T> value) const {
    using C = compute_t<T>;
    if constexpr (std::is_same_v<C, float>) {
      // The tangent overflows closer to 0 and 1 than this.
      constexpr C kEpsilon = epsilon<C>;
      value = value > 1 - kEpsilon ? 1 - kEpsilon : value < kEpsilon ? kEpsilon : value;
    }
    return static_cast<T>(multiply_add(sigma, tangent_of_turns(value - C(0.5)), median));
  }
  // tan(pi * x) for x in [-1/2, 1/2], without the range reduction of tan().
  ANVIL_DEVICE static compute_t<T> tangent_of_turns(compute_t<T> x) {
#if defined(__CUDA_ARCH__)
    return sinpi(x) / cospi(x);
#else
    constexpr compute_t<T> kPi = static_cast<compute_t<T>>(3.141592653589793);
    return std::tan(kPi * x);
#endif
  }
};

void uniform(const RandomOutput& output,
             RandomGrid grid,
             PhiloxState state,
             double from,
             double to,
             cudaStream_t stream) {
  dispatch(FloatingTypes{}, output.dtype, "uniform", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T low = static_cast<T>(from), high = static_cast<T>(to);
    const auto range = static_cast<compute_t<T>>(static_cast<T>(high - low));
    random_fill<T, DrawUniform<T>>("uniform", output, grid, state, ToUniform<T>{range, low, high},
                                   stream);
  });
}

template <template <class> class Transform, template <class> class Draw>
void transformed(const char* name,
                 const RandomOutput& output,
                 RandomGrid grid,
                 PhiloxState state,
                 double a,
                 double b,
                 cudaStream_t stream) {
  dispatch(FloatingTypes{}, output.dtype, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    random_fill<T, Draw<T>>(name, output, grid, state,
                            Transform<T>{static_cast<C>(a), static_cast<C>(b)}, stream);
  });
}

void normal(const RandomOutput& output,
            RandomGrid grid,
            PhiloxState state,
            double mean,
            double std,
            cudaStream_t stream) {
  transformed<ToNormal, DrawNormal>("normal", output, grid, state, mean, std, stream);
}

void log_normal(const RandomOutput& output,
                RandomGrid grid,
                PhiloxState state,
                double mean,
                double std,
                cudaStream_t stream) {
  transformed<ToLogNormal, DrawNormal>("log_normal", output, grid, state, mean, std, stream);
}

void cauchy(const RandomOutput& output,
            RandomGrid grid,
            PhiloxState state,
            double median,
            double sigma,
            cudaStream_t stream) {
  transformed<ToCauchy, DrawUniform>("cauchy", output, grid, state, median, sigma, stream);
}

void exponential(const RandomOutput& output,
                 RandomGrid grid,
                 PhiloxState state,
                 double lambda,
                 cudaStream_t stream) {
  dispatch(FloatingTypes{}, output.dtype, "exponential", [&](auto tag) {
    using T = typename decltype(tag)::type;
    random_fill<T, DrawUniform<T>>("exponential", output, grid, state,
                                   ToExponential<T>{static_cast<compute_t<T>>(lambda)}, stream);
  });
}

const RandomKernels random_kernels{
    .uniform = uniform,
    .normal = normal,
    .log_normal = log_normal,
    .exponential = exponential,
    .cauchy = cauchy,
    .bernoulli = bernoulli,
    .geometric = geometric,
    .random_from_to = random_from_to,
    .random_full_range = random_full_range,
    .random = random,
    .bernoulli_tensor = bernoulli_tensor,
    .shuffle_equal_keys = shuffle_equal_keys,
};

}  // namespace anvil::kernels
