// The four operations and their integer relatives.
#include "aten_ops/kernels/binary.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/math.h"

namespace anvil::kernels::binary {

#define ANVIL_BINARY(NAME, FUNCTOR, LIST)                    \
  void NAME(const Iterator& iterator, cudaStream_t stream) { \
    elementwise<LIST>(#NAME, iterator, stream, FUNCTOR{});   \
  }

// int32_t is served without a detour: indices and counts are added a lot.
using Arithmetic = Types<float, double, int64_t, int32_t, Complex<float>, Complex<double>>;

struct Plus {
  static constexpr bool kKeepsScalar = true;
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
struct ScaledPlus {
  static constexpr bool kKeepsScalar = true;
  T alpha;
  ANVIL_DEVICE T operator()(T a, T b) const { return a + alpha * b; }
};

void add(const Iterator& iterator, cudaStream_t stream, Scalar alpha) {
  if (alpha.to<Complex<double>>() == Complex<double>(1)) {
    elementwise<Arithmetic>("add", iterator, stream, Plus{});
  } else {
    elementwise_with<Arithmetic>("add", iterator, stream,
                                 [&]<class T>() { return ScaledPlus<T>{alpha.to<T>()}; });
  }
}

struct Times {
  static constexpr bool kKeepsScalar = true;
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};
ANVIL_BINARY(mul, Times, Arithmetic)

struct Divide {
  static constexpr bool kKeepsScalar = true;
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};
ANVIL_BINARY(div_true, Divide, FloatingAndComplex)

// Quotient towards zero, without the two cases that trap on a host.
ANVIL_DEVICE int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? -1 : b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}

// The quotient is rounded to the dtype before it is truncated, as upstream's is:
// 53.9 is 54 as a bfloat16.
template <class Element>
struct DivTrunc {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return quotient(a, b);
    } else if constexpr (std::is_void_v<Element>) {
      return math::trunc(a / b);
    } else {
      return math::trunc(cast<T>(cast<Element>(a / b)));
    }
  }
};
void div_trunc(const Iterator& iterator, cudaStream_t stream) {
  switch (iterator.common_dtype) {
    case ScalarType::Half:
      return elementwise<Types<float>>("div_trunc", iterator, stream, DivTrunc<Half>{});
    case ScalarType::BFloat16:
      return elementwise<Types<float>>("div_trunc", iterator, stream, DivTrunc<BFloat16>{});
    default:
      return elementwise<Real>("div_trunc", iterator, stream, DivTrunc<void>{});
  }
}

// Python's a // b: the quotient of a minus its remainder, so that a rounded
// division does not reach the next integer (CPython, floatobject.c's rule).
struct DivFloor {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T q = quotient(a, b);
      return b != 0 && q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
    } else {
      if (b == 0) {
        return a / b;
      }
      const T rest = math::fmod(a, b);
      T q = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) {
        q -= 1;
      }
      if (q == 0) {
        return math::copysign(T(0), a / b);
      }
      const T floor = math::floor(q);
      return q - floor > T(0.5) ? floor + 1 : floor;
    }
  }
};
ANVIL_BINARY(div_floor, DivFloor, Real)

struct Fmod {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return b == 0 ? -1 : a - quotient(a, b) * b;
    } else {
      return math::fmod(a, b);
    }
  }
};
ANVIL_BINARY(fmod, Fmod, Real)

struct Remainder {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    const T rest = Fmod{}(a, b);
    return rest != 0 && b != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
  }
};
ANVIL_BINARY(remainder, Remainder, Real)

struct Gcd {
  ANVIL_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    uint64_t x = a < 0 ? -static_cast<uint64_t>(a) : a;
    uint64_t y = b < 0 ? -static_cast<uint64_t>(b) : b;
    while (y != 0) {
      const uint64_t rest = x % y;
      x = y;
      y = rest;
    }
    return static_cast<int64_t>(x);
  }
};
ANVIL_BINARY(gcd, Gcd, Integral)

struct Lcm {
  ANVIL_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    const int64_t divisor = Gcd{}(a, b);
    return divisor == 0 ? 0 : math::abs(quotient(a, divisor) * b);
  }
};
ANVIL_BINARY(lcm, Lcm, Integral)

}  // namespace anvil::kernels::binary
