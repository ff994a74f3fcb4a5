// Comparisons, extrema, logic and bits.
#include "aten_ops/kernels/binary.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/math.h"

namespace anvil::kernels::binary {

#define ANVIL_BINARY(NAME, FUNCTOR, LIST)                    \
  void NAME(const Iterator& iterator, cudaStream_t stream) { \
    elementwise<LIST>(#NAME, iterator, stream, FUNCTOR{});   \
  }

#define ANVIL_FUNCTOR(NAME, RESULT, EXPRESSION)      \
  struct NAME {                                      \
    template <class T>                               \
    ANVIL_DEVICE RESULT operator()(T a, T b) const { \
      return EXPRESSION;                             \
    }                                                \
  };

// Unsigned 64-bit numbers do not compare as int64_t.
using Ordered = Types<float, double, int64_t, uint64_t>;
using Comparable = Types<float, double, int64_t, Complex<float>, Complex<double>>;

ANVIL_FUNCTOR(Eq, bool, a == b)
ANVIL_FUNCTOR(Ne, bool, a != b)
ANVIL_FUNCTOR(Lt, bool, a < b)
ANVIL_FUNCTOR(Le, bool, a <= b)
ANVIL_FUNCTOR(Gt, bool, a > b)
ANVIL_FUNCTOR(Ge, bool, a >= b)
ANVIL_BINARY(eq, Eq, Comparable)
ANVIL_BINARY(ne, Ne, Comparable)
ANVIL_BINARY(lt, Lt, Ordered)
ANVIL_BINARY(le, Le, Ordered)
ANVIL_BINARY(gt, Gt, Ordered)
ANVIL_BINARY(ge, Ge, Ordered)

ANVIL_FUNCTOR(LogicalAnd, bool, (a != T(0)) & (b != T(0)))
ANVIL_FUNCTOR(LogicalOr, bool, (a != T(0)) | (b != T(0)))
ANVIL_FUNCTOR(LogicalXor, bool, (a != T(0)) != (b != T(0)))
ANVIL_BINARY(logical_and, LogicalAnd, Comparable)
ANVIL_BINARY(logical_or, LogicalOr, Comparable)
ANVIL_BINARY(logical_xor, LogicalXor, Comparable)

ANVIL_FUNCTOR(Maximum, T, math::max_or_nan(a, b))
ANVIL_FUNCTOR(Minimum, T, math::min_or_nan(a, b))
ANVIL_BINARY(maximum, Maximum, Ordered)
ANVIL_BINARY(minimum, Minimum, Ordered)

// The number where one of the two is NaN.
ANVIL_FUNCTOR(Fmax, T, math::is_nan(a) ? b : math::is_nan(b) ? a : a > b ? a : b)
ANVIL_FUNCTOR(Fmin, T, math::is_nan(a) ? b : math::is_nan(b) ? a : a < b ? a : b)
ANVIL_BINARY(fmax, Fmax, Ordered)
ANVIL_BINARY(fmin, Fmin, Ordered)

ANVIL_FUNCTOR(BitwiseAnd, T, a& b)
ANVIL_FUNCTOR(BitwiseOr, T, a | b)
ANVIL_FUNCTOR(BitwiseXor, T, a ^ b)
ANVIL_BINARY(bitwise_and, BitwiseAnd, Integral)
ANVIL_BINARY(bitwise_or, BitwiseOr, Integral)
ANVIL_BINARY(bitwise_xor, BitwiseXor, Integral)

// Shifts by the width of the dtype or more, or by a negative number, shift
// everything out.
struct LeftShift {
  int bits;
  ANVIL_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    const bool inside = b >= 0 && b < bits;
    return inside ? static_cast<int64_t>(static_cast<uint64_t>(a) << b) : 0;
  }
};
struct RightShift {
  int bits;
  ANVIL_DEVICE int64_t operator()(int64_t a, int64_t b) const {
    const bool inside = b >= 0 && b < bits;
    return a >> (inside ? b : 63);
  }
};
void lshift(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Integral>("lshift", iterator, stream,
                        LeftShift{8 * element_size(iterator.common_dtype)});
}
void rshift(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Integral>("rshift", iterator, stream,
                        RightShift{8 * element_size(iterator.common_dtype)});
}

// b where a is zero; NaN stays.
// 0 for NaN, as upstream's.
ANVIL_FUNCTOR(Heaviside, T, a == T(0) ? b : static_cast<T>(a > T(0)))
ANVIL_BINARY(heaviside, Heaviside, Real)

}  // namespace anvil::kernels::binary
