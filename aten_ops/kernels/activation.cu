// Piecewise activation functions: linear, or exponential on one side.
#include "aten_ops/kernels/activation.h"

#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/math.h"

namespace anvil::kernels::activation {

#define ANVIL_ACTIVATION(NAME, FUNCTOR)                        \
  void NAME(const Iterator& iterator, cudaStream_t stream) {   \
    elementwise<Floating>(#NAME, iterator, stream, FUNCTOR{}); \
  }

template <class T>
struct Elu {
  T negative;  // factor of the negative side
  T positive;
  T input;
  ANVIL_DEVICE T operator()(T x) const {
    const T below = math::expm1(x * input) * negative;
    return x > 0 ? x * positive : below;
  }
};
void elu(
    const Iterator& iterator, cudaStream_t stream, Scalar alpha, Scalar scale, Scalar input_scale) {
  elementwise_with<Floating>("elu", iterator, stream, [&]<class T>() {
    return Elu<T>{alpha.to<T>() * scale.to<T>(), scale.to<T>(), input_scale.to<T>()};
  });
}

template <class T>
struct EluBackward {
  T negative;
  T positive;
  T input;
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T below = grad * input * negative * math::exp(x * input);
    return x <= 0 ? below : grad * positive;
  }
};
template <class T>
struct EluBackwardOfResult {
  T negative;
  T positive;
  T input;
  ANVIL_DEVICE T operator()(T grad, T y) const {
    return y <= 0 ? grad * input * (y + negative) : grad * positive;
  }
};
void elu_backward(const Iterator& iterator,
                  cudaStream_t stream,
                  Scalar alpha,
                  Scalar scale,
                  Scalar input_scale,
                  bool is_result) {
  if (is_result) {
    elementwise_with<Floating>("elu_backward", iterator, stream, [&]<class T>() {
      return EluBackwardOfResult<T>{alpha.to<T>() * scale.to<T>(), scale.to<T>(),
                                    input_scale.to<T>()};
    });
  } else {
    elementwise_with<Floating>("elu_backward", iterator, stream, [&]<class T>() {
      return EluBackward<T>{alpha.to<T>() * scale.to<T>(), scale.to<T>(), input_scale.to<T>()};
    });
  }
}

template <class T>
struct HardShrink {
  T lambd;
  ANVIL_DEVICE T operator()(T x) const { return x >= -lambd && x <= lambd ? T(0) : x; }
};
void hardshrink(const Iterator& iterator, cudaStream_t stream, Scalar lambd) {
  elementwise_with<Floating>("hardshrink", iterator, stream,
                             [&]<class T>() { return HardShrink<T>{lambd.to<T>()}; });
}

template <class T>
struct SoftShrink {
  T lambd;
  ANVIL_DEVICE T operator()(T x) const {
    // x * 0 keeps NaN.
    return x > lambd ? x - lambd : x < -lambd ? x + lambd : x * T(0);
  }
};
void softshrink(const Iterator& iterator, cudaStream_t stream, Scalar lambd) {
  elementwise_with<Floating>("softshrink", iterator, stream,
                             [&]<class T>() { return SoftShrink<T>{lambd.to<T>()}; });
}

template <class T>
struct ShrinkBackward {
  T lambd;
  ANVIL_DEVICE T operator()(T grad, T x) const { return x >= -lambd && x <= lambd ? T(0) : grad; }
};
void shrink_backward(const Iterator& iterator, cudaStream_t stream, Scalar lambd) {
  elementwise_with<Floating>("shrink_backward", iterator, stream,
                             [&]<class T>() { return ShrinkBackward<T>{lambd.to<T>()}; });
}

struct HardSigmoid {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return math::min_or_nan(math::max_or_nan(x + T(3), T(0)), T(6)) / T(6);
  }
};
ANVIL_ACTIVATION(hardsigmoid, HardSigmoid)

struct HardSigmoidBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    return x > T(-3) && x < T(3) ? grad / T(6) : T(0);
  }
};
ANVIL_ACTIVATION(hardsigmoid_backward, HardSigmoidBackward)

struct HardSwish {
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x * math::min_or_nan(math::max_or_nan(x + T(3), T(0)), T(6)) / T(6);
  }
};
ANVIL_ACTIVATION(hardswish, HardSwish)

struct HardSwishBackward {
  template <class T>
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T between = grad * (x / T(3) + T(0.5));
    return x <= T(-3) ? T(0) : x < T(3) ? between : grad;
  }
};
ANVIL_ACTIVATION(hardswish_backward, HardSwishBackward)

template <class T>
struct HardTanhBackward {
  T min;
  T max;
  ANVIL_DEVICE T operator()(T grad, T x) const { return x <= min || x >= max ? T(0) : grad; }
};
void hardtanh_backward(const Iterator& iterator, cudaStream_t stream, Scalar min, Scalar max) {
  elementwise_with<Floating>("hardtanh_backward", iterator, stream, [&]<class T>() {
    return HardTanhBackward<T>{min.to<T>(), max.to<T>()};
  });
}

template <class T>
struct LeakyRelu {
  T slope;
  ANVIL_DEVICE T operator()(T x) const { return x > 0 ? x : x * slope; }
};
void leaky_relu(const Iterator& iterator, cudaStream_t stream, Scalar slope) {
  elementwise_with<Floating>("leaky_relu", iterator, stream,
                             [&]<class T>() { return LeakyRelu<T>{slope.to<T>()}; });
}

template <class T>
struct LeakyReluBackward {
  T slope;
  ANVIL_DEVICE T operator()(T x, T grad) const { return x > 0 ? grad : grad * slope; }
};
void leaky_relu_backward(const Iterator& iterator, cudaStream_t stream, Scalar slope) {
  elementwise_with<Floating>("leaky_relu_backward", iterator, stream,
                             [&]<class T>() { return LeakyReluBackward<T>{slope.to<T>()}; });
}

struct Prelu {
  template <class T>
  ANVIL_DEVICE T operator()(T x, T weight) const {
    return x > 0 ? x : x * weight;
  }
};
ANVIL_ACTIVATION(prelu, Prelu)

template <class T>
struct Threshold {
  T threshold;
  T value;
  ANVIL_DEVICE T operator()(T x, T other) const { return x <= threshold ? value : other; }
};
void threshold(const Iterator& iterator, cudaStream_t stream, Scalar threshold, Scalar value) {
  elementwise_with<Real>("threshold", iterator, stream,
                         [&]<class T>() { return Threshold<T>{threshold.to<T>(), value.to<T>()}; });
}

}  // namespace anvil::kernels::activation
