// Unary operators that are one function of math.h.
#include "aten_ops/kernels/unary_math.h"

namespace anvil::kernels::unary {

ANVIL_UNARY_MATH(erf, Erf, Floating)
ANVIL_UNARY_MATH(erfc, Erfc, Floating)
ANVIL_UNARY_MATH(exp, Exp, FloatingAndComplex)
ANVIL_UNARY_MATH(exp2, Exp2, FloatingAndComplex)
ANVIL_UNARY_MATH(expm1, Expm1, FloatingAndComplex)
ANVIL_UNARY_MATH(lgamma, Lgamma, Floating)
ANVIL_UNARY_MATH(log, Log, FloatingAndComplex)
ANVIL_UNARY_MATH(log10, Log10, FloatingAndComplex)
ANVIL_UNARY_MATH(log1p, Log1p, FloatingAndComplex)
ANVIL_UNARY_MATH(log2, Log2, FloatingAndComplex)
ANVIL_UNARY_MATH(sigmoid, Sigmoid, FloatingAndComplex)
ANVIL_UNARY_MATH(sqrt, Sqrt, FloatingAndComplex)

struct Rsqrt {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return T(1) / math::sqrt(x);
  }
};
void rsqrt(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("rsqrt", iterator, stream, Rsqrt{});
}

}  // namespace anvil::kernels::unary
