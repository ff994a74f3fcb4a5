// Smooth activation functions: made of exp, tanh and erf.
#include "aten_ops/kernels/activation.h"

#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/elementwise.h"

namespace anvil::kernels::activation {

#define ANVIL_ACTIVATION(NAME, FUNCTOR)                        \
  void NAME(const Iterator& iterator, cudaStream_t stream) {   \
    elementwise<Floating>(#NAME, iterator, stream, FUNCTOR{}); \
  }

// Hendrycks and Gimpel, Gaussian Error Linear Units, 2016: x * Phi(x), and its
// approximation by tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
inline constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
inline constexpr double kGeluCubic = 0.044715;

struct Gelu {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    const T size = math::abs(x);
    return (x > 0 ? x : T(0)) - size * math::normal_tail(size);
  }
};
struct GeluTanh {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    const T inner = T(kSqrtTwoOverPi) * (x + T(kGeluCubic) * x * x * x);
    return T(0.5) * x * (T(1) + math::tanh(inner));
  }
};
void gelu(const Iterator& iterator, cudaStream_t stream, bool tanh) {
  if (tanh) {
    elementwise<Floating>("gelu", iterator, stream, GeluTanh{});
  } else {
    elementwise<Floating>("gelu", iterator, stream, Gelu{});
  }
}

struct GeluBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T cdf = math::normal_cdf(x);
    const T pdf = T(0.5 * kSqrtTwoOverPi) * math::exp(T(-0.5) * x * x);
    return grad * (cdf + x * pdf);
  }
};
struct GeluTanhBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T square = x * x;
    const T inner = T(kSqrtTwoOverPi) * (x + T(kGeluCubic) * x * square);
    const T t = math::tanh(inner);
    const T slope = T(kSqrtTwoOverPi) * (T(1) + T(3 * kGeluCubic) * square);
    return grad * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
  }
};
void gelu_backward(const Iterator& iterator, cudaStream_t stream, bool tanh) {
  if (tanh) {
    elementwise<Floating>("gelu_backward", iterator, stream, GeluTanhBackward{});
  } else {
    elementwise<Floating>("gelu_backward", iterator, stream, GeluBackward{});
  }
}

struct Glu {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a * math::sigmoid(b);
  }
};
ANVIL_ACTIVATION(glu, Glu)

// min(x, 0) - log1p(exp(-|x|)), which does not overflow.
struct LogSigmoid {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::min_or_nan(x, T(0)) - math::log1p(math::exp(-math::abs(x)));
  }
};
ANVIL_ACTIVATION(log_sigmoid, LogSigmoid)

struct LogSigmoidBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T z = math::exp(-math::abs(x));
    const T rest = z / (T(1) + z);
    return grad * (x < 0 ? T(1) - rest : rest);
  }
};
ANVIL_ACTIVATION(log_sigmoid_backward, LogSigmoidBackward)

struct Mish {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x * math::tanh(math::log1p(math::exp(x)));
  }
};
ANVIL_ACTIVATION(mish, Mish)

struct MishBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T t = math::tanh(math::log1p(math::exp(x)));
    return grad * (t + x * math::sigmoid(x) * (T(1) - t * t));
  }
};
ANVIL_ACTIVATION(mish_backward, MishBackward)

struct SigmoidBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T y) const {
    if constexpr (is_complex<T>) {
      return grad * math::conj((T(1) - y) * y);
    } else {
      return grad * (T(1) - y) * y;
    }
  }
};
void sigmoid_backward(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("sigmoid_backward", iterator, stream, SigmoidBackward{});
}

struct Silu {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x / (T(1) + math::exp(-x));
  }
};
void silu(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("silu", iterator, stream, Silu{});
}

struct SiluBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T s = math::sigmoid(x);
    return grad * s * (T(1) + x * (T(1) - s));
  }
};
ANVIL_ACTIVATION(silu_backward, SiluBackward)

template <class T>
struct Softplus {
  T beta;
  T threshold;
  ANVIL_DEVICE T operator()(T x) const {
    const T curve = math::log1p(math::exp(x * beta)) / beta;
    return x * beta > threshold ? x : curve;
  }
};
void softplus(const Iterator& iterator, cudaStream_t stream, Scalar beta, Scalar threshold) {
  elementwise_with<Floating>("softplus", iterator, stream, [&]<class T>() {
    return Softplus<T>{beta.to<T>(), threshold.to<T>()};
  });
}

template <class T>
struct SoftplusBackward {
  T beta;
  T threshold;
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T z = math::exp(x * beta);
    return x * beta > threshold ? grad : grad * z / (z + T(1));
  }
};
void softplus_backward(const Iterator& iterator,
                       cudaStream_t stream,
                       Scalar beta,
                       Scalar threshold) {
  elementwise_with<Floating>("softplus_backward", iterator, stream, [&]<class T>() {
    return SoftplusBackward<T>{beta.to<T>(), threshold.to<T>()};
  });
}

struct TanhBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T y) const {
    if constexpr (is_complex<T>) {
      return grad * math::conj(T(1) - y * y);
    } else {
      return grad * (T(1) - y * y);
    }
  }
};
void tanh_backward(const Iterator& iterator, cudaStream_t stream) {
  elementwise<FloatingAndComplex>("tanh_backward", iterator, stream, TanhBackward{});
}

}  // namespace anvil::kernels::activation
