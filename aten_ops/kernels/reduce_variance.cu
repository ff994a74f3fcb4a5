// Variance, standard deviation and the mean beside them.
//
// A block takes the mean of its slice first and then the squared deviations from
// it, as in a two-pass algorithm; slices merge by Chan, Golub and LeVeque, "Updating
// formulae and a pairwise algorithm for computing sample variances" (1979).
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/reduce_kernel.h"
#include "aten_ops/kernels/reduce_launchers.h"

namespace anvil::kernels {

template <class V>
struct Moments {
  V mean;
  V squares;  // sum of squared deviations from the mean
  int64_t count;
};

template <class V>
struct VarianceOp {
  using Acc = Moments<V>;
  double correction;
  bool square_root;

  ANVIL_DEVICE Acc identity() const { return {V(0), V(0), 0}; }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return {x, V(0), 1}; }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const {
    if (a.count == 0) {
      return b;
    }
    if (b.count == 0) {
      return a;
    }
    const int64_t count = a.count + b.count;
    const V delta = b.mean - a.mean;
    const V ratio = static_cast<V>(b.count) / static_cast<V>(count);
    return {a.mean + delta * ratio,
            a.squares + b.squares + delta * delta * static_cast<V>(a.count) * ratio, count};
  }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t count) const {
    const double divisor = static_cast<double>(count) - correction;
    const V variance = a.squares / static_cast<V>(divisor > 0 ? divisor : 0);
    store_as(out.first_dtype, out.first, i, square_root ? std::sqrt(variance) : variance);
    if (out.second.get() != nullptr) {
      store_as(out.second_dtype, out.second, i, a.mean);
    }
  }
};

template <class V>
struct SquaredDeviationOp {
  using Acc = V;
  V mean;
  ANVIL_DEVICE Acc identity() const { return V(0); }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return (x - mean) * (x - mean); }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return a + b; }
};

template <class V, class Input>
struct TeamVariance : ReduceArguments<VarianceOp<V>, Input> {
  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const auto& plan = this->plan;
    const int64_t parts = plan.parts();
    for (int64_t block = team.block(); block < plan.units * parts; block += team.blocks()) {
      const int64_t output = divide(block, parts);
      const int64_t part = block - output * parts;
      const int64_t count = slice_count(part);
      const V sum = reduce_slice(team, SumOp<V>{}, *this, output, part);
      const V mean = count > 0 ? sum / static_cast<V>(count) : V(0);
      const V squares = reduce_slice(team, SquaredDeviationOp<V>{mean}, *this, output, part);
      finish_part(team, *this, output, part, Moments<V>{mean, squares, count});
    }
  }

 private:
  ANVIL_DEVICE int64_t slice_count(int64_t part) const {
    const auto& plan = this->plan;
    const int64_t outer_part = divide(part, plan.inner_parts);
    const int64_t inner_part = part - outer_part * plan.inner_parts;
    const int64_t outer_step = divide(plan.outer + plan.outer_parts - 1, plan.outer_parts);
    const int64_t inner_step = divide(plan.inner + plan.inner_parts - 1, plan.inner_parts);
    return slice_length(plan.outer - outer_part * outer_step, outer_step) *
           slice_length(plan.inner - inner_part * inner_step, inner_step);
  }
};

namespace {

template <class Input>
void variance(const Reduction& r, double correction, bool square_root, cudaStream_t stream) {
  using V = typename Input::Value;
  launch_reduce<Input, VarianceOp<V>, TeamVariance<V, Input>>(
      "variance", r, VarianceOp<V>{correction, square_root}, stream);
}

}  // namespace

void reduce_variance(const Reduction& r, double correction, bool square_root, cudaStream_t stream) {
  switch (r.input_dtype) {
    case ScalarType::Float:
      return variance<TypedInput<float>>(r, correction, square_root, stream);
    case ScalarType::Double:
      return variance<AnyInput<double>>(r, correction, square_root, stream);
    case ScalarType::Half:
    case ScalarType::BFloat16:
      return variance<AnyInput<float>>(r, correction, square_root, stream);
    default:
      throw_not_implemented("var", r.input_dtype);
  }
}

}  // namespace anvil::kernels
