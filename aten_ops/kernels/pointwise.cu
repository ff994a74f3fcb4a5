// Selection, clamping and fused arithmetic.
#include <limits>

#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/pointwise.h"

namespace anvil::kernels::pointwise {

// input + value * a / b
template <class T>
struct Addcdiv {
  T value;
  ANVIL_DEVICE T operator()(T input, T a, T b) const { return input + value * (a / b); }
};
void addcdiv(const Iterator& iterator, cudaStream_t stream, Scalar value) {
  elementwise_with<FloatingAndComplex>("addcdiv", iterator, stream,
                                       [&]<class T>() { return Addcdiv<T>{value.to<T>()}; });
}

// input + value * a * b
template <class T>
struct Addcmul {
  T value;
  ANVIL_DEVICE T operator()(T input, T a, T b) const { return input + value * a * b; }
};
void addcmul(const Iterator& iterator, cudaStream_t stream, Scalar value) {
  elementwise_with<All>("addcmul", iterator, stream,
                        [&]<class T>() { return Addcmul<T>{value.to<T>()}; });
}

// NaN of either side stays.
template <class T>
struct Clamp {
  T min;
  T max;
  ANVIL_DEVICE T operator()(T x) const { return math::min_or_nan(math::max_or_nan(x, min), max); }
};
void clamp(const Iterator& iterator, cudaStream_t stream, Scalar min, Scalar max) {
  elementwise_with<Real>("clamp", iterator, stream,
                         [&]<class T>() { return Clamp<T>{min.to<T>(), max.to<T>()}; });
}

template <class T>
struct ClampMin {
  T min;
  ANVIL_DEVICE T operator()(T x) const { return math::max_or_nan(x, min); }
};
void clamp_min(const Iterator& iterator, cudaStream_t stream, Scalar min) {
  elementwise_with<Real>("clamp_min", iterator, stream,
                         [&]<class T>() { return ClampMin<T>{min.to<T>()}; });
}

template <class T>
struct ClampMax {
  T max;
  ANVIL_DEVICE T operator()(T x) const { return math::min_or_nan(x, max); }
};
void clamp_max(const Iterator& iterator, cudaStream_t stream, Scalar max) {
  elementwise_with<Real>("clamp_max", iterator, stream,
                         [&]<class T>() { return ClampMax<T>{max.to<T>()}; });
}

struct ClampTensor {
  template <class T>
  ANVIL_DEVICE T operator()(T x, T min, T max) const {
    return math::min_or_nan(math::max_or_nan(x, min), max);
  }
};
void clamp_tensor(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Real>("clamp", iterator, stream, ClampTensor{});
}

// From the nearer end, so that weight 1 gives `end` exactly.
struct Lerp {
  template <class T>
  ANVIL_DEVICE T operator()(T start, T end, T weight) const {
    const T near_start = start + weight * (end - start);
    const T near_end = end - (end - start) * (T(1) - weight);
    return is_small(weight) ? near_start : near_end;
  }

 private:
  template <class T>
  ANVIL_DEVICE static bool is_small(T weight) {
    if constexpr (is_complex<T>) {
      return weight.real * weight.real + weight.imag * weight.imag < 0.25f;
    } else {
      return math::abs(weight) < T(0.5);
    }
  }
};
template <class T>
struct LerpScalar {
  T weight;
  ANVIL_DEVICE T operator()(T start, T end) const { return Lerp{}(start, end, weight); }
};
void lerp(const Iterator& iterator, cudaStream_t stream, Scalar weight) {
  elementwise_with<FloatingAndComplex>("lerp", iterator, stream,
                                       [&]<class T>() { return LerpScalar<T>{weight.to<T>()}; });
}
void lerp_tensor(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("lerp", iterator, stream, Lerp{});
}

template <class T>
struct MaskedFill {
  T value;
  ANVIL_DEVICE T operator()(T x, T mask) const { return mask == T(0) ? x : value; }
};
void masked_fill(const Iterator& iterator, cudaStream_t stream, Scalar value) {
  elementwise_with<All>("masked_fill", iterator, stream,
                        [&]<class T>() { return MaskedFill<T>{value.to<T>()}; });
}

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<Complex<T>> {
  using type = T;
};

template <class T>
struct NanToNum {
  T nan;
  T posinf;
  T neginf;
  // Each part of a complex number by itself.
  ANVIL_DEVICE Complex<T> operator()(Complex<T> z) const {
    return {(*this)(z.real), (*this)(z.imag)};
  }
  ANVIL_DEVICE T operator()(T x) const {
    const T infinity = std::numeric_limits<T>::infinity();
    return math::is_nan(x) ? nan : x == infinity ? posinf : x == -infinity ? neginf : x;
  }
};
void nan_to_num(
    const Iterator& iterator, cudaStream_t stream, double nan, double posinf, double neginf) {
  elementwise_with<FloatingAndComplex>("nan_to_num", iterator, stream, [&]<class T>() {
    using Part = typename RealPart<T>::type;
    return NanToNum<Part>{static_cast<Part>(nan), static_cast<Part>(posinf),
                          static_cast<Part>(neginf)};
  });
}

// Half to even at a decimal place; a negative one is left of the point.
template <class T>
struct RoundDecimals {
  T power;
  bool negative;
  ANVIL_DEVICE T operator()(T x) const {
    return negative ? math::round_even(x / power) * power : math::round_even(x * power) / power;
  }
};
void round_decimals(const Iterator& iterator, cudaStream_t stream, int64_t decimals) {
  elementwise_with<Floating>("round", iterator, stream, [&]<class T>() {
    const double places = static_cast<double>(decimals < 0 ? -decimals : decimals);
    return RoundDecimals<T>{static_cast<T>(std::pow(10.0, places)), decimals < 0};
  });
}

struct Where {
  template <class T>
  ANVIL_DEVICE T operator()(T condition, T a, T b) const {
    return condition == T(0) ? b : a;
  }
};
void where(const Iterator& iterator, cudaStream_t stream) {
  elementwise<All>("where", iterator, stream, Where{});
}

}  // namespace anvil::kernels::pointwise
