// Binary functions of real numbers, and powers.
#include <limits>

#include "aten_ops/kernels/binary.h"
#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/elementwise.h"

namespace anvil::kernels::binary {

#define ANVIL_BINARY_MATH(NAME, FUNCTOR)                       \
  struct FUNCTOR {                                             \
    template <class T>                                         \
    ANVIL_DEVICE T operator()(T a, T b) const {                \
      return math::NAME(a, b);                                 \
    }                                                          \
  };                                                           \
  void NAME(const Iterator& iterator, cudaStream_t stream) {   \
    elementwise<Floating>(#NAME, iterator, stream, FUNCTOR{}); \
  }

ANVIL_BINARY_MATH(atan2, Atan2)
ANVIL_BINARY_MATH(copysign, CopySign)
ANVIL_BINARY_MATH(hypot, Hypot)

struct MakeComplex {
  template <class T>
  ANVIL_DEVICE Complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
};
void complex(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("complex", iterator, stream, MakeComplex{});
}

struct Polar {
  template <class T>
  ANVIL_DEVICE Complex<T> operator()(T radius, T angle) const {
    return math::polar(radius, angle);
  }
};
void polar(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("polar", iterator, stream, Polar{});
}

struct NextAfter {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return math::nextafter(a, b);
  }
};

// The next number of a type of 16 bits: its bits are ordered as its values are.
template <class Narrow>
struct NextAfterNarrow {
  ANVIL_DEVICE float operator()(float a, float b) const {
    const auto bits = cast<Narrow>(a).x;
    const bool away = (a < b) == (a > 0);
    const auto next = static_cast<uint16_t>(a == 0 ? (b < 0 ? 0x8001 : 1) : bits + (away ? 1 : -1));
    const float stepped = static_cast<float>(Narrow(next, Narrow::from_bits()));
    return math::is_nan(a) ? a : math::is_nan(b) || a == b ? b : stepped;
  }
};

void nextafter(const Iterator& iterator, cudaStream_t stream) {
  switch (iterator.common_dtype) {
    case ScalarType::Half:
      return elementwise<Types<float>>("nextafter", iterator, stream, NextAfterNarrow<Half>{});
    case ScalarType::BFloat16:
      return elementwise<Types<float>>("nextafter", iterator, stream, NextAfterNarrow<BFloat16>{});
    default:
      return elementwise<Floating>("nextafter", iterator, stream, NextAfter{});
  }
}

// log(exp(a) + exp(b)) = max + log1p(exp(min - max)).
struct LogAddExp {
  template <class T>
  ANVIL_DEVICE Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return math::logaddexp(a, b);
  }
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const T larger = a > b ? a : b;
    const T distance = math::abs(a - b);
    const T sum = larger + math::log1p(math::exp(-distance));
    return (a == b && math::abs(a) == std::numeric_limits<T>::infinity()) ? a
           : math::is_nan(distance)                                       ? distance
                                                                          : sum;
  }
};
void logaddexp(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("logaddexp", iterator, stream, LogAddExp{});
}

struct LogAddExp2 {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const T larger = a > b ? a : b;
    const T distance = math::abs(a - b);
    const T sum =
        larger + math::log1p(math::exp2(-distance)) * T(1.4426950408889634074);  // 1 / log(2)
    return (a == b && math::abs(a) == std::numeric_limits<T>::infinity()) ? a
           : math::is_nan(distance)                                       ? distance
                                                                          : sum;
  }
};
void logaddexp2(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("logaddexp2", iterator, stream, LogAddExp2{});
}

// a * log(b), 0 where a is 0 unless b is NaN.
struct XLogY {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const T product = a * math::log(b);
    return math::is_nan(b) ? b : a == T(0) ? T(0) : product;
  }
};
void xlogy(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("xlogy", iterator, stream, XLogY{});
}

struct XLog1pY {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const T product = a * math::log1p(b);
    return math::is_nan(b) ? b : a == T(0) ? T(0) : product;
  }
};
void xlog1py(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("xlog1py", iterator, stream, XLog1pY{});
}

// Integers by squaring. A negative exponent leaves 1, -1 or 0.
ANVIL_DEVICE int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  }
  uint64_t result = 1;
  uint64_t square = static_cast<uint64_t>(base);
  while (exponent != 0) {
    if (exponent & 1) {
      result *= square;
    }
    square *= square;
    exponent >>= 1;
  }
  return static_cast<int64_t>(result);
}

struct Power {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return integer_power(a, b);
    } else {
      return math::pow(a, b);
    }
  }
};
void pow(const Iterator& iterator, cudaStream_t stream) {
  elementwise<All>("pow", iterator, stream, Power{});
}

template <class T>
struct PowerOf {
  T exponent;
  ANVIL_DEVICE T operator()(T x) const { return Power{}(x, exponent); }
};

// Small exponents by multiplication, as upstream does: exact, and fast.
template <int kExponent>
struct SmallPower {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    if constexpr (kExponent == 2) {
      return x * x;
    } else if constexpr (kExponent == 3) {
      return x * x * x;
    } else {
      return T(1) / (x * x);
    }
  }
};

void pow_scalar(const Iterator& iterator, cudaStream_t stream, Scalar exponent) {
  const auto value = exponent.to<Complex<double>>();
  if (value == Complex<double>(2)) {
    elementwise<All>("pow", iterator, stream, SmallPower<2>{});
  } else if (value == Complex<double>(3)) {
    elementwise<All>("pow", iterator, stream, SmallPower<3>{});
  } else if (value == Complex<double>(-2) && !computes<int64_t>(iterator.common_dtype)) {
    elementwise<FloatingAndComplex>("pow", iterator, stream, SmallPower<-2>{});
  } else {
    elementwise_with<All>("pow", iterator, stream,
                          [&]<class T>() { return PowerOf<T>{exponent.to<T>()}; });
  }
}

}  // namespace anvil::kernels::binary
