#include "aten_ops/kernels/foreach.h"

#include <algorithm>
#include <numeric>

#include "test/kernels/list_buffers.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

// Empty tensors, odd tails, one of two chunks.
const std::vector<int64_t> kNumel = {1, 33, 0, 1000, kTensorChunk + 1};
const int64_t kTotal = std::accumulate(kNumel.begin(), kNumel.end(), int64_t{0});

// The numbers of kNumel's tensors for each of their elements.
std::vector<double> spread(const std::vector<double>& of_tensor) {
  std::vector<double> result;
  for (size_t t = 0; t < kNumel.size(); ++t) {
    result.insert(result.end(), kNumel[t], of_tensor[t]);
  }
  return result;
}

struct Operator {
  ForeachOp op;
  int inputs;
  double (*formula)(double x, double y, double z, double s);
};
#define ANVIL_OPERATOR(op, inputs, expression) \
  {ForeachOp::op, inputs,                      \
   [](double x, double y, double z, double s) -> double { return expression; }}
const Operator kOperators[] = {
    ANVIL_OPERATOR(kZero, 0, 0),
    ANVIL_OPERATOR(kCopy, 1, x),
    ANVIL_OPERATOR(kAbs, 1, std::abs(x)),
    ANVIL_OPERATOR(kNeg, 1, -x),
    ANVIL_OPERATOR(kSqrt, 1, std::sqrt(x)),
    ANVIL_OPERATOR(kRsqrt, 1, 1 / std::sqrt(x)),
    ANVIL_OPERATOR(kReciprocal, 1, 1 / x),
    ANVIL_OPERATOR(kExp, 1, std::exp(x)),
    ANVIL_OPERATOR(kAddScalar, 1, x + s),
    ANVIL_OPERATOR(kMulScalar, 1, x* s),
    ANVIL_OPERATOR(kDivScalar, 1, x / s),
    ANVIL_OPERATOR(kMaxScalar, 1, std::max(x, s)),
    ANVIL_OPERATOR(kMinScalar, 1, std::min(x, s)),
    ANVIL_OPERATOR(kAddList, 2, x + s * y),
    ANVIL_OPERATOR(kMulList, 2, x* y),
    ANVIL_OPERATOR(kDivList, 2, x / y),
    ANVIL_OPERATOR(kMaxList, 2, std::max(x, y)),
    ANVIL_OPERATOR(kMinList, 2, std::min(x, y)),
    ANVIL_OPERATOR(kLerpScalar, 2, x + s * (y - x)),
    ANVIL_OPERATOR(kLerpList, 3, x + z * (y - x)),
    ANVIL_OPERATOR(kAddcmul, 3, x + s * y * z),
    ANVIL_OPERATOR(kAddcdiv, 3, x + s * (y / z)),
};

class ForeachTest : public simt_checker::CheckedTest {};

TEST_F(ForeachTest, EveryOperatorIsItsFormulaOnEveryTensor) {
  const std::vector<double> scalars = {0.25, -3, 1, 2, 0.75};
  const std::vector<double> s = spread(scalars);
  const std::vector<float> inputs[] = {whole_numbers(kTotal, 8, 1), whole_numbers(kTotal, 8, 2),
                                       whole_numbers(kTotal, 8, 3)};
  for (const Operator& o : kOperators) {
    ListBuffers<float> lists(kNumel);
    lists.add("out", std::vector<float>(kTotal));
    for (int k = 0; k < o.inputs; ++k) {
      lists.add("in", inputs[k]);
    }
    ForeachProblem problem{o.op, ScalarType::Float, lists.view()};
    problem.lists.scalars = scalars.data();
    foreach_kernels.elementwise(problem, nullptr);
    const std::vector<float> out = lists.values(0);
    for (int64_t i = 0; i < kTotal; ++i) {
      const double expected = o.formula(inputs[0][i], inputs[1][i], inputs[2][i], s[i]);
      // Up to three roundings of float, of terms up to some hundreds.
      ASSERT_TRUE(close(out[i], expected, 1e-6 * (1 + std::abs(expected)) + 2e-5 * (o.inputs > 1)))
          << static_cast<int>(o.op) << " " << i;
    }
  }
}

TEST_F(ForeachTest, HalfInPlaceWithAFactorOnTheDeviceAndMoreTensorsThanALaunchTakes) {
  const std::vector<int64_t> numel(300, 3);
  const auto values = whole_numbers<Half>(900);
  ListBuffers<Half> lists(numel);
  lists.add("tensor", values);
  lists.add(std::vector<void*>(lists.view().data[0], lists.view().data[0] + 300));
  Buffer<Half> factor("factor", std::vector<Half>{Half(3)});
  std::vector<double> scalars(300);
  std::iota(scalars.begin(), scalars.end(), -150);
  ForeachProblem problem{ForeachOp::kAddScalar, ScalarType::Half, lists.view(), factor.data()};
  problem.lists.scalars = scalars.data();
  foreach_kernels.elementwise(problem, nullptr);
  const std::vector<Half> out = lists.values(0);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(float(out[i]), float(values[i]) + 3 * scalars[i / 3]) << i;
  }
}

class FusedOptimizerTest : public simt_checker::CheckedTest {
 protected:
  std::vector<float> p = normal_numbers(kTotal, 1);
  std::vector<float> g = normal_numbers(kTotal, 2);
  std::vector<float> m = normal_numbers(kTotal, 3);
  std::vector<float> v = positive(4);
  std::vector<float> largest = positive(5);
  Buffer<float> steps{"steps", std::vector<float>{1, 2, 3, 4, 5}};
  Buffer<float> grad_scale{"grad_scale", std::vector<float>{4}};
  Buffer<float> found_inf{"found_inf", std::vector<float>{0}};

  static std::vector<float> positive(unsigned seed) {
    std::vector<float> values = normal_numbers(kTotal, seed);
    for (float& value : values) {
      value = 0.1f + value * value;
    }
    return values;
  }
  // Some roundings of float, of numbers of order 1.
  static void expect_close(const std::vector<float>& actual, const std::vector<double>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_TRUE(close(actual[i], expected[i], 5e-6 * (1 + std::abs(expected[i])))) << i;
    }
  }
};

TEST_F(FusedOptimizerTest, AdamAndAdamWWithScaledGradients) {
  constexpr double kLr = 0.1, kBeta1 = 0.9, kBeta2 = 0.99, kDecay = 0.03, kEps = 1e-3;
  const std::vector<double> step = spread({1, 2, 3, 4, 5});
  for (const bool amsgrad : {false, true}) {
    for (const bool decoupled : {false, true}) {
      ListBuffers<float> lists(kNumel);
      lists.add("parameters", p);
      lists.add("gradients", g);
      lists.add("exp_avgs", m);
      lists.add("exp_avg_sqs", v);
      if (amsgrad) {
        lists.add("max_exp_avg_sqs", largest);
      }
      lists.add({&steps[0], &steps[1], &steps[2], &steps[3], &steps[4]});
      FusedAdamProblem problem{
          ScalarType::Float, lists.view(), kLr,      kBeta1, kBeta2, kDecay, kEps,
          amsgrad,           amsgrad,      decoupled};
      problem.grad_scale = grad_scale.data();
      problem.found_inf = found_inf.data();
      foreach_kernels.fused_adam(problem, nullptr);
      std::vector<double> expected[4];
      for (int64_t i = 0; i < kTotal; ++i) {
        const double unscaled = g[i] / 4.0;
        const double decayed = decoupled ? p[i] * (1 - kLr * kDecay) : p[i];
        const double gradient = (amsgrad ? -unscaled : unscaled) + (decoupled ? 0 : kDecay * p[i]);
        const double first = kBeta1 * m[i] + (1 - kBeta1) * gradient;
        const double second = kBeta2 * v[i] + (1 - kBeta2) * gradient * gradient;
        const double divisor = amsgrad ? std::max<double>(second, largest[i]) : second;
        const double corrected = std::sqrt(divisor / (1 - std::pow(kBeta2, step[i])));
        expected[0].push_back(decayed -
                              kLr / (1 - std::pow(kBeta1, step[i])) * first / (corrected + kEps));
        expected[1].push_back(unscaled);
        expected[2].push_back(first);
        expected[3].push_back(second);
      }
      for (int k = 0; k < 4; ++k) {
        expect_close(lists.values(k), expected[k]);
      }
    }
  }
}

TEST_F(FusedOptimizerTest, SgdWithAndWithoutMomentum) {
  constexpr double kLr = 0.1, kMomentum = 0.9, kDampening = 0.2, kDecay = 0.03;
  for (const bool has_momentum : {false, true}) {
    for (const bool variant : {false, true}) {  // nesterov, maximize, the first step
      ListBuffers<float> lists(kNumel);
      lists.add("parameters", p);
      lists.add("gradients", g);
      if (has_momentum) {
        lists.add("momentum_buffers", m);
      }
      const double momentum = has_momentum ? kMomentum : 0;
      foreach_kernels.fused_sgd({ScalarType::Float, lists.view(), kLr, momentum, kDampening, kDecay,
                                 variant, variant, variant},
                                nullptr);
      std::vector<double> expected;
      std::vector<double> buffers;
      for (int64_t i = 0; i < kTotal; ++i) {
        const double gradient = (variant ? -g[i] : g[i]) + kDecay * p[i];
        const double buffer = variant ? gradient : momentum * m[i] + (1 - kDampening) * gradient;
        const double update = !has_momentum ? gradient
                              : variant     ? gradient + momentum * buffer
                                            : buffer;
        expected.push_back(p[i] - kLr * update);
        buffers.push_back(buffer);
      }
      expect_close(lists.values(0), expected);
      if (has_momentum) {
        expect_close(lists.values(2), buffers);
      }
    }
  }
}

TEST_F(FusedOptimizerTest, AnInfinityAmongTheGradientsLeavesEverythingAsItWas) {
  found_inf[0] = 1;
  ListBuffers<float> lists(kNumel);
  lists.add("parameters", p);
  lists.add("gradients", g);
  FusedSgdProblem problem{ScalarType::Float, lists.view(), 0.1, 0, 0, 0, false, false, false};
  problem.found_inf = found_inf.data();
  foreach_kernels.fused_sgd(problem, nullptr);
  EXPECT_EQ(lists.values(0), p);
}

}  // namespace
}  // namespace anvil::kernels
