// Trigonometric and hyperbolic functions and their inverses.
#include "aten_ops/kernels/unary_math.h"

namespace anvil::kernels::unary {

ANVIL_UNARY_MATH(acos, Acos, FloatingAndComplex)
ANVIL_UNARY_MATH(acosh, Acosh, FloatingAndComplex)
ANVIL_UNARY_MATH(asin, Asin, FloatingAndComplex)
ANVIL_UNARY_MATH(asinh, Asinh, FloatingAndComplex)
ANVIL_UNARY_MATH(atan, Atan, FloatingAndComplex)
ANVIL_UNARY_MATH(atanh, Atanh, FloatingAndComplex)
ANVIL_UNARY_MATH(cos, Cos, FloatingAndComplex)
ANVIL_UNARY_MATH(cosh, Cosh, FloatingAndComplex)
ANVIL_UNARY_MATH(sin, Sin, FloatingAndComplex)
ANVIL_UNARY_MATH(sinh, Sinh, FloatingAndComplex)
ANVIL_UNARY_MATH(tan, Tan, FloatingAndComplex)
ANVIL_UNARY_MATH(tanh, Tanh, FloatingAndComplex)

// sin(pi x) / (pi x), 1 at 0.
struct Sinc {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    const T product = T(3.14159265358979323846) * x;
    const T ratio = math::sin(product) / product;
    return x == T(0) ? T(1) : ratio;
  }
};
void sinc(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("sinc", iterator, stream, Sinc{});
}

}  // namespace anvil::kernels::unary
