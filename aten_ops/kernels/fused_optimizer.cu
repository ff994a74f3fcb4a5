#include <cmath>

#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/foreach_functions.h"

namespace anvil::kernels {

template <class T, bool kAmsgrad>
struct FusedAdam {
  using C = compute_t<T>;
  static constexpr int kLists = kAmsgrad ? 6 : 5;
  TensorLists<kLists, C> lists;
  double lr, beta1, beta2, weight_decay, eps;
  bool maximize, decoupled;
  Pointer<const float> device_lr, grad_scale, found_inf;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (found_inf != nullptr && *found_inf == 1.0f) {
      return;
    }
    const auto chunk = lists.chunk(team.block());
    const double step = *reinterpret_cast<const float*>(lists.data[kLists - 1][chunk.tensor].get());
    const double rate = device_lr != nullptr ? static_cast<double>(*device_lr) : lr;
    const C step_size = static_cast<C>(rate / (1.0 - std::pow(beta1, step)));
    const C root_of_correction2 = static_cast<C>(std::sqrt(1.0 - std::pow(beta2, step)));
    const C b1 = static_cast<C>(beta1), b2 = static_cast<C>(beta2);
    const C decay = static_cast<C>(decoupled ? rate * weight_decay : weight_decay);
    const C epsilon = static_cast<C>(eps);
    const C unscale = grad_scale != nullptr ? static_cast<C>(*grad_scale) : C(1);
    const bool rescales = grad_scale != nullptr;
    T* parameters = lists.template at<T>(0, chunk);
    T* gradients = lists.template at<T>(1, chunk);
    T* exp_avgs = lists.template at<T>(2, chunk);
    T* exp_avg_sqs = lists.template at<T>(3, chunk);
    T* max_exp_avg_sqs = kAmsgrad ? lists.template at<T>(4, chunk) : nullptr;
    team.for_each(chunk.size, [&](int64_t i) {
      C p = C(parameters[i]);
      C g = C(gradients[i]);
      if (rescales) {
        g /= unscale;
        gradients[i] = T(g);
      }
      g = maximize ? -g : g;
      if (decoupled) {
        p -= decay * p;
      } else {
        g += decay * p;
      }
      const C m = C(exp_avgs[i]) * b1 + g * (C(1) - b1);
      const C v = C(exp_avg_sqs[i]) * b2 + g * g * (C(1) - b2);
      C largest = v;
      if constexpr (kAmsgrad) {
        const C before = C(max_exp_avg_sqs[i]);
        largest = v > before ? v : before;
        max_exp_avg_sqs[i] = T(largest);
      }
      exp_avgs[i] = T(m);
      exp_avg_sqs[i] = T(v);
      parameters[i] = T(p - step_size * m / (std::sqrt(largest) / root_of_correction2 + epsilon));
    });
  }
};

template <class T, bool kMomentum>
struct FusedSgd {
  using C = compute_t<T>;
  TensorLists<kMomentum ? 3 : 2, C> lists;
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, is_first_step;
  Pointer<const float> device_lr, grad_scale, found_inf;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (found_inf != nullptr && *found_inf == 1.0f) {
      return;
    }
    const auto chunk = lists.chunk(team.block());
    const C rate = device_lr != nullptr ? static_cast<C>(*device_lr) : static_cast<C>(lr);
    const C decay = static_cast<C>(weight_decay);
    const C mu = static_cast<C>(momentum);
    const C damping = static_cast<C>(1.0 - dampening);
    const C unscale = grad_scale != nullptr ? static_cast<C>(*grad_scale) : C(1);
    const bool rescales = grad_scale != nullptr;
    T* parameters = lists.template at<T>(0, chunk);
    T* gradients = lists.template at<T>(1, chunk);
    T* buffers = kMomentum ? lists.template at<T>(kMomentum ? 2 : 0, chunk) : nullptr;
    team.for_each(chunk.size, [&](int64_t i) {
      const C p = C(parameters[i]);
      C g = C(gradients[i]);
      if (rescales) {
        g /= unscale;
        gradients[i] = T(g);
      }
      g = (maximize ? -g : g) + decay * p;
      if constexpr (kMomentum) {
        const C buffer = is_first_step ? g : mu * C(buffers[i]) + damping * g;
        buffers[i] = T(buffer);
        g = nesterov ? g + mu * buffer : buffer;
      }
      parameters[i] = T(p - rate * g);
    });
  }
};

template <class T, bool kAmsgrad>
void launch_adam(const FusedAdamProblem& p, cudaStream_t stream) {
  using Kernel = FusedAdam<T, kAmsgrad>;
  for_each_launch<Kernel::kLists, compute_t<T>>(p.lists, [&](const auto& lists, int64_t blocks) {
    launch<Kernel>("fused_adam", {.blocks = blocks, .threads = 512}, stream,
                   {lists, p.lr, p.beta1, p.beta2, p.weight_decay, p.eps, p.maximize, p.decoupled,
                    p.device_lr, p.grad_scale, p.found_inf});
  });
}

void fused_adam(const FusedAdamProblem& problem, cudaStream_t stream) {
  dispatch(FloatingTypes{}, problem.dtype, "fused_adam", [&](auto tag) {
    using T = typename decltype(tag)::type;
    problem.amsgrad ? launch_adam<T, true>(problem, stream)
                    : launch_adam<T, false>(problem, stream);
  });
}

template <class T, bool kMomentum>
void launch_sgd(const FusedSgdProblem& p, cudaStream_t stream) {
  using Kernel = FusedSgd<T, kMomentum>;
  for_each_launch<kMomentum ? 3 : 2, compute_t<T>>(p.lists, [&](const auto& lists, int64_t blocks) {
    launch<Kernel>("fused_sgd", {.blocks = blocks, .threads = 512}, stream,
                   {lists, p.lr, p.momentum, p.dampening, p.weight_decay, p.nesterov, p.maximize,
                    p.is_first_step, p.device_lr, p.grad_scale, p.found_inf});
  });
}

void fused_sgd(const FusedSgdProblem& problem, cudaStream_t stream) {
  dispatch(FloatingTypes{}, problem.dtype, "fused_sgd", [&](auto tag) {
    using T = typename decltype(tag)::type;
    problem.lists.nlists == 3 ? launch_sgd<T, true>(problem, stream)
                              : launch_sgd<T, false>(problem, stream);
  });
}

}  // namespace anvil::kernels
