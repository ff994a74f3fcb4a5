// Unary operators that are arithmetic, rounding, sign or logic.
#include <limits>

#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/unary.h"

namespace anvil::kernels::unary {

// Defines the operator NAME by the functor FUNCTOR for the types in LIST.
#define ANVIL_UNARY(NAME, FUNCTOR, LIST)                     \
  void NAME(const Iterator& iterator, cudaStream_t stream) { \
    elementwise<LIST>(#NAME, iterator, stream, FUNCTOR{});   \
  }

struct Abs {
  template <class T>
  ANVIL_DEVICE auto operator()(T x) const {
    return math::abs(x);
  }
};
ANVIL_UNARY(abs, Abs, All)

struct Angle {
  template <class T>
  ANVIL_DEVICE auto operator()(T x) const {
    if constexpr (is_complex<T>) {
      return math::arg(x);
    } else {
      const T pi = T(3.14159265358979323846);
      const T angle = x < 0 ? pi : T(0);
      return math::is_nan(x) ? x : angle;
    }
  }
};
ANVIL_UNARY(angle, Angle, FloatingAndComplex)

struct ConjPhysical {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    if constexpr (is_complex<T>) {
      return math::conj(x);
    } else {
      return x;
    }
  }
};
ANVIL_UNARY(conj_physical, ConjPhysical, All)

struct Neg {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return -x;
  }
};
ANVIL_UNARY(neg, Neg, All)

struct BitwiseNot {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return ~x;
    }
  }
};
using IntegralAndBool = Types<int64_t, bool>;
ANVIL_UNARY(bitwise_not, BitwiseNot, IntegralAndBool)

struct LogicalNot {
  template <class T>
  ANVIL_DEVICE bool operator()(T x) const {
    return x == T(0);
  }
};
ANVIL_UNARY(logical_not, LogicalNot, All)

struct Reciprocal {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};
ANVIL_UNARY(reciprocal, Reciprocal, FloatingAndComplex)

struct Ceil {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::ceil(x);
  }
};
ANVIL_UNARY(ceil, Ceil, Floating)

struct Floor {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::floor(x);
  }
};
ANVIL_UNARY(floor, Floor, Floating)

struct Round {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::round_even(x);
  }
};
ANVIL_UNARY(round, Round, Floating)

struct Trunc {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::trunc(x);
  }
};
ANVIL_UNARY(trunc, Trunc, Floating)

struct Frac {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x - math::trunc(x);
  }
};
ANVIL_UNARY(frac, Frac, Floating)

struct Sign {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return static_cast<T>((T(0) < x) - (x < T(0)));
  }
};
ANVIL_UNARY(sign, Sign, Real)

struct Sgn {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    if constexpr (is_complex<T>) {
      const auto size = math::abs(x);
      return size == 0 ? T(0) : T(x.real / size, x.imag / size);
    } else {
      return Sign{}(x);
    }
  }
};
ANVIL_UNARY(sgn, Sgn, All)

struct SignBit {
  template <class T>
  ANVIL_DEVICE bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return math::copysign(T(1), x) < 0;
    } else {
      return x < 0;
    }
  }
};
ANVIL_UNARY(signbit, SignBit, Real)

struct IsPosInf {
  template <class T>
  ANVIL_DEVICE bool operator()(T x) const {
    return x == std::numeric_limits<T>::infinity();
  }
};
ANVIL_UNARY(isposinf, IsPosInf, Floating)

struct IsNegInf {
  template <class T>
  ANVIL_DEVICE bool operator()(T x) const {
    return x == -std::numeric_limits<T>::infinity();
  }
};
ANVIL_UNARY(isneginf, IsNegInf, Floating)

}  // namespace anvil::kernels::unary
