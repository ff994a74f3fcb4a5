// Losses before their reduction, and their gradients.
#include <limits>

#include "aten_ops/kernels/device_check.h"
#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/math.h"
#include "aten_ops/kernels/pointwise.h"

namespace anvil::kernels::pointwise {

struct Mse {
  template <class T>
  ANVIL_DEVICE T operator()(T input, T target) const {
    const T difference = input - target;
    return difference * difference;
  }
};
void mse(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("mse_loss", iterator, stream, Mse{});
}

template <class T>
struct MseBackward {
  T norm;
  ANVIL_DEVICE T operator()(T input, T target, T grad) const {
    return norm * (input - target) * grad;
  }
};
void mse_backward(const Iterator& iterator, cudaStream_t stream, Scalar norm) {
  elementwise_with<Floating>("mse_loss_backward", iterator, stream,
                             [&]<class T>() { return MseBackward<T>{norm.to<T>()}; });
}

template <class T>
struct SmoothL1 {
  T beta;
  ANVIL_DEVICE T operator()(T input, T target) const {
    const T size = math::abs(input - target);
    return size < beta ? T(0.5) * size * size / beta : size - T(0.5) * beta;
  }
};
void smooth_l1(const Iterator& iterator, cudaStream_t stream, double beta) {
  elementwise_with<Floating>("smooth_l1_loss", iterator, stream,
                             [&]<class T>() { return SmoothL1<T>{static_cast<T>(beta)}; });
}

template <class T>
struct SmoothL1Backward {
  T norm;
  T beta;
  ANVIL_DEVICE T operator()(T input, T target, T grad) const {
    const T x = input - target;
    const T inside = norm * x * grad / beta;
    return x <= -beta ? -norm * grad : x >= beta ? norm * grad : inside;
  }
};
void smooth_l1_backward(const Iterator& iterator, cudaStream_t stream, Scalar norm, double beta) {
  elementwise_with<Floating>("smooth_l1_loss_backward", iterator, stream, [&]<class T>() {
    return SmoothL1Backward<T>{norm.to<T>(), static_cast<T>(beta)};
  });
}

template <class T>
struct Huber {
  T delta;
  ANVIL_DEVICE T operator()(T input, T target) const {
    const T size = math::abs(input - target);
    return size <= delta ? T(0.5) * size * size : delta * (size - T(0.5) * delta);
  }
};
void huber(const Iterator& iterator, cudaStream_t stream, double delta) {
  elementwise_with<Floating>("huber_loss", iterator, stream,
                             [&]<class T>() { return Huber<T>{static_cast<T>(delta)}; });
}

template <class T>
struct HuberBackward {
  T norm;
  T delta;
  ANVIL_DEVICE T operator()(T input, T target, T grad) const {
    const T x = input - target;
    return x <= -delta ? -norm * grad * delta : x >= delta ? norm * grad * delta : norm * x * grad;
  }
};
void huber_backward(const Iterator& iterator, cudaStream_t stream, Scalar norm, double delta) {
  elementwise_with<Floating>("huber_loss_backward", iterator, stream, [&]<class T>() {
    return HuberBackward<T>{norm.to<T>(), static_cast<T>(delta)};
  });
}

// Logarithms are cut at -100, as torch documents it for BCELoss.
struct BinaryCrossEntropy {
  template <class T>
  ANVIL_DEVICE T operator()(T input, T target) const {
    device_check(input >= T(0) && input <= T(1),
                 "binary_cross_entropy: all elements of input should be between 0 and 1");
    device_check(target >= T(0) && target <= T(1),
                 "binary_cross_entropy: all elements of target should be between 0 and 1");
    const T log_input = math::max_or_nan(math::log(input), T(-100));
    const T log_rest = math::max_or_nan(math::log1p(-input), T(-100));
    return (target - T(1)) * log_rest - target * log_input;
  }
};
void binary_cross_entropy(const Iterator& iterator, cudaStream_t stream) {
  elementwise<Floating>("binary_cross_entropy", iterator, stream, BinaryCrossEntropy{});
}

template <class T>
struct BinaryCrossEntropyBackward {
  T norm;
  ANVIL_DEVICE T operator()(T input, T target, T grad) const {
    const T variance = math::max_or_nan((T(1) - input) * input, T(1e-12));
    return norm * grad * (input - target) / variance;
  }
};
void binary_cross_entropy_backward(const Iterator& iterator, cudaStream_t stream, Scalar norm) {
  elementwise_with<Floating>("binary_cross_entropy_backward", iterator, stream, [&]<class T>() {
    return BinaryCrossEntropyBackward<T>{norm.to<T>()};
  });
}

// log(x / (1 - x)), with x moved into [eps, 1 - eps] unless eps is negative.
template <class T>
struct Logit {
  T eps;
  ANVIL_DEVICE T operator()(T x) const {
    const T high = T(1) - eps;
    const T inside = x < eps ? eps : x > high ? high : x;
    const T z = eps < 0 ? x : inside;
    return math::log(z / (T(1) - z));
  }
};
void logit(const Iterator& iterator, cudaStream_t stream, Scalar eps) {
  elementwise_with<Floating>("logit", iterator, stream,
                             [&]<class T>() { return Logit<T>{eps.to<T>()}; });
}

template <class T>
struct LogitBackward {
  T eps;
  ANVIL_DEVICE T operator()(T grad, T x) const {
    const T slope = grad / (x * (T(1) - x));
    const T outside = eps < 0 ? std::numeric_limits<T>::quiet_NaN() : T(0);
    const T low = eps < 0 ? T(0) : eps;
    return x < low || x > T(1) - low ? outside : slope;
  }
};
void logit_backward(const Iterator& iterator, cudaStream_t stream, Scalar eps) {
  elementwise_with<Floating>("logit_backward", iterator, stream,
                             [&]<class T>() { return LogitBackward<T>{eps.to<T>()}; });
}

}  // namespace anvil::kernels::pointwise
