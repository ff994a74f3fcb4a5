#include "aten_ops/kernels/foreach.h"

#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/foreach_functions.h"
#include "aten_ops/kernels/math.h"

namespace anvil::kernels {

// The operators: `kInputs` lists are read, C is the type computed in.
#define ANVIL_FOREACH_OP(name, inputs, expression)    \
  struct Foreach##name {                              \
    static constexpr int kInputs = inputs;            \
    template <class C>                                \
    ANVIL_DEVICE static C apply(C x, C y, C z, C s) { \
      return expression;                              \
    }                                                 \
  };
ANVIL_FOREACH_OP(Zero, 0, C(0))
ANVIL_FOREACH_OP(Copy, 1, x)
ANVIL_FOREACH_OP(Abs, 1, math::abs(x))
ANVIL_FOREACH_OP(Neg, 1, -x)
ANVIL_FOREACH_OP(Sqrt, 1, math::sqrt(x))
ANVIL_FOREACH_OP(Rsqrt, 1, C(1) / math::sqrt(x))
ANVIL_FOREACH_OP(Reciprocal, 1, C(1) / x)
ANVIL_FOREACH_OP(Exp, 1, math::exp(x))
ANVIL_FOREACH_OP(AddScalar, 1, x + s)
ANVIL_FOREACH_OP(MulScalar, 1, x* s)
ANVIL_FOREACH_OP(DivScalar, 1, x / s)
ANVIL_FOREACH_OP(MaxScalar, 1, math::max_or_nan(x, s))
ANVIL_FOREACH_OP(MinScalar, 1, math::min_or_nan(x, s))
ANVIL_FOREACH_OP(AddList, 2, x + s * y)
ANVIL_FOREACH_OP(MulList, 2, x* y)
ANVIL_FOREACH_OP(DivList, 2, x / y)
ANVIL_FOREACH_OP(MaxList, 2, math::max_or_nan(x, y))
ANVIL_FOREACH_OP(MinList, 2, math::min_or_nan(x, y))
// Of the two forms of lerp, the one that is exact at the nearer end.
ANVIL_FOREACH_OP(LerpScalar, 2, math::abs(s) < C(0.5) ? x + s * (y - x) : y - (y - x) * (C(1) - s))
ANVIL_FOREACH_OP(LerpList, 3, math::abs(z) < C(0.5) ? x + z * (y - x) : y - (y - x) * (C(1) - z))
ANVIL_FOREACH_OP(Addcmul, 3, x + s * y * z)
ANVIL_FOREACH_OP(Addcdiv, 3, x + s * (y / z))
#undef ANVIL_FOREACH_OP

template <class Op, class T>
struct Foreach {
  using C = compute_t<T>;
  TensorLists<Op::kInputs + 1, C> lists;
  Pointer<const T> device_factor;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto chunk = lists.chunk(team.block());
    C s = lists.scalars[chunk.tensor];
    if (device_factor != nullptr) {
      s *= static_cast<C>(*device_factor);
    }
    T* out = lists.template at<T>(0, chunk);
    if constexpr (Op::kInputs == 0) {
      team.for_each(chunk.size,
                    [&](int64_t i) { out[i] = T(Op::template apply<C>(C(0), C(0), C(0), s)); });
    } else if constexpr (Op::kInputs == 1) {
      const T* x = lists.template at<T>(1, chunk);
      team.for_each(chunk.size,
                    [&](int64_t i) { out[i] = T(Op::template apply<C>(C(x[i]), C(0), C(0), s)); });
    } else if constexpr (Op::kInputs == 2) {
      const T* x = lists.template at<T>(1, chunk);
      const T* y = lists.template at<T>(2, chunk);
      team.for_each(chunk.size, [&](int64_t i) {
        out[i] = T(Op::template apply<C>(C(x[i]), C(y[i]), C(0), s));
      });
    } else {
      const T* x = lists.template at<T>(1, chunk);
      const T* y = lists.template at<T>(2, chunk);
      const T* z = lists.template at<T>(3, chunk);
      team.for_each(chunk.size, [&](int64_t i) {
        out[i] = T(Op::template apply<C>(C(x[i]), C(y[i]), C(z[i]), s));
      });
    }
  }
};

template <class Op>
void foreach_with(const char* name, const ForeachProblem& problem, cudaStream_t stream) {
  dispatch(FloatingTypes{}, problem.dtype, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_launch<Op::kInputs + 1, compute_t<T>>(
        problem.lists, [&](const auto& lists, int64_t blocks) {
          launch<Foreach<Op, T>>(name, {.blocks = blocks, .threads = 512}, stream,
                                 {lists, static_cast<const T*>(problem.device_factor)});
        });
  });
}

void foreach_elementwise(const ForeachProblem& problem, cudaStream_t stream) {
  switch (problem.op) {
#define ANVIL_FOREACH_CASE(name) \
  case ForeachOp::k##name:       \
    return foreach_with<Foreach##name>("foreach_" #name, problem, stream);
    ANVIL_FOREACH_CASE(Zero)
    ANVIL_FOREACH_CASE(Copy)
    ANVIL_FOREACH_CASE(Abs)
    ANVIL_FOREACH_CASE(Neg)
    ANVIL_FOREACH_CASE(Sqrt)
    ANVIL_FOREACH_CASE(Rsqrt)
    ANVIL_FOREACH_CASE(Reciprocal)
    ANVIL_FOREACH_CASE(Exp)
    ANVIL_FOREACH_CASE(AddScalar)
    ANVIL_FOREACH_CASE(MulScalar)
    ANVIL_FOREACH_CASE(DivScalar)
    ANVIL_FOREACH_CASE(MaxScalar)
    ANVIL_FOREACH_CASE(MinScalar)
    ANVIL_FOREACH_CASE(AddList)
    ANVIL_FOREACH_CASE(MulList)
    ANVIL_FOREACH_CASE(DivList)
    ANVIL_FOREACH_CASE(MaxList)
    ANVIL_FOREACH_CASE(MinList)
    ANVIL_FOREACH_CASE(LerpScalar)
    ANVIL_FOREACH_CASE(LerpList)
    ANVIL_FOREACH_CASE(Addcmul)
    ANVIL_FOREACH_CASE(Addcdiv)
#undef ANVIL_FOREACH_CASE
  }
}

const ForeachKernels foreach_kernels{
    .elementwise = foreach_elementwise,
    .fused_adam = fused_adam,
    .fused_sgd = fused_sgd,
    .amp_unscale = amp_unscale,
    .amp_update_scale = amp_update_scale,
};

}  // namespace anvil::kernels
