#include <cmath>

#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/foreach_functions.h"

namespace anvil::kernels {

template <class T>
struct AmpUnscale {
  using C = compute_t<T>;
  TensorLists<1, C> lists;
  Pointer<const float> inverse_scale;
  Pointer<float> found_inf;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto chunk = lists.chunk(team.block());
    T* gradients = lists.template at<T>(0, chunk);
    const C factor = static_cast<C>(*inverse_scale);
    // A factor of 1 leaves the values' bits alone.
    const bool scales = factor != C(1);
    const int bad = team.reduce(chunk.size, 0, Either{}, [&](int64_t i) {
      const C value = C(gradients[i]);
      if (scales) {
        gradients[i] = T(value * factor);
      }
      return value - value == C(0) ? 0 : 1;  // infinities and NaN give NaN
    });
    // Every block that finds one writes the same value.
    team.once([&] {
      if (bad != 0) {
        team.atomic_update(found_inf.get(), 0, One{});
      }
    });
  }

  struct Either {
    ANVIL_DEVICE int operator()(int a, int b) const { return a | b; }
  };
  struct One {
    ANVIL_DEVICE float operator()(float) const { return 1.0f; }
  };
};

void amp_unscale(const AmpUnscaleProblem& problem, cudaStream_t stream) {
  dispatch(FloatingTypes{}, problem.dtype, "amp_unscale", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_launch<1, compute_t<T>>(problem.lists, [&](const auto& lists, int64_t blocks) {
      launch<AmpUnscale<T>>("amp_unscale", {.blocks = blocks, .threads = 512}, stream,
                            {lists, problem.inverse_scale, problem.found_inf});
    });
  });
}

// The loss scale backs off after an overflow and grows after growth_interval
// steps without one, unless it would become infinite.
struct AmpUpdateScale {
  Pointer<float> scale;
  Pointer<int> growth_tracker;
  Pointer<const float> found_inf;
  double growth_factor, backoff_factor;
  int growth_interval;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] {
      if (*found_inf != 0.0f) {
        *scale = static_cast<float>(*scale * backoff_factor);
        *growth_tracker = 0;
        return;
      }
      const int successful = *growth_tracker + 1;
      if (successful != growth_interval) {
        *growth_tracker = successful;
        return;
      }
      const float grown = static_cast<float>(*scale * growth_factor);
      if (grown - grown == 0.0f) {
        *scale = grown;
      }
      *growth_tracker = 0;
    });
  }
};

void amp_update_scale(const AmpUpdateScaleProblem& p, cudaStream_t stream) {
  launch<AmpUpdateScale>("amp_update_scale", {.blocks = 1, .threads = 32}, stream,
                         {p.scale, p.growth_tracker, p.found_inf, p.growth_factor, p.backoff_factor,
                          p.growth_interval});
}

}  // namespace anvil::kernels
