#include "aten_ops/kernels/nll_loss.h"

#include <stdexcept>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

constexpr int64_t kIgnored = 2;

struct Shape {
  int64_t batch;
  int64_t classes;
  int64_t positions;  // 1: nll_loss, more: nll_loss2d
};
constexpr Shape kShapes[] = {{1, 3, 1}, {33, 5, 1}, {1025, 3, 1}, {2, 7, 31}, {3, 4, 257}};

// Whole numbers: sums are exact.
template <class Target>
struct Problem {
  Shape shape;
  int64_t samples = shape.batch * shape.positions;
  Buffer<float> input{"input", whole_numbers(samples * shape.classes)};
  Buffer<Target> target{"target", static_cast<size_t>(samples)};
  Buffer<float> weight{"weight", whole_numbers(shape.classes, 8, 2)};
  bool weighted = true;

  explicit Problem(const Shape& s) : shape(s) {
    for (int64_t i = 0; i < samples; ++i) {
      target[i] = static_cast<Target>((i * i + 1) % shape.classes);
    }
    for (float& w : weight) {
      w = std::abs(w) + 1;
    }
  }
  NllLoss loss(LossReduction reduction) const {
    return {input.data(),      target.data(),          weighted ? weight.data() : nullptr,
            ScalarType::Float, scalar_type_of<Target>, shape.batch,
            shape.classes,     shape.positions,        kIgnored,
            reduction};
  }
  float weight_of(int64_t sample) const {
    return target[sample] == kIgnored ? 0 : weighted ? weight[target[sample]] : 1;
  }
  size_t offset(int64_t sample, int64_t label) const {
    return (sample / shape.positions * shape.classes + label) * shape.positions +
           sample % shape.positions;
  }
  double loss_of(int64_t sample) const {
    return -double(weight_of(sample)) * input[offset(sample, target[sample])];
  }
};

template <class Target>
void check(const Shape& shape, bool weighted) {
  Problem<Target> p(shape);
  p.weighted = weighted;
  double sum = 0;
  double weights = 0;
  for (int64_t i = 0; i < p.samples; ++i) {
    sum += p.loss_of(i);
    weights += p.weight_of(i);
  }
  for (const auto reduction : {LossReduction::kNone, LossReduction::kMean, LossReduction::kSum}) {
    const bool each = reduction == LossReduction::kNone;
    const bool mean = reduction == LossReduction::kMean;
    Buffer<float> output("output", each ? p.samples : 1);
    Buffer<float> total_weight("total_weight", std::vector<float>{0});
    nll_loss_kernels.forward(p.loss(reduction), output.data(), total_weight.data(), nullptr);
    if (each) {
      for (int64_t i = 0; i < p.samples; ++i) {
        ASSERT_EQ(output[i], p.loss_of(i)) << i;
      }
    } else {
      // The quotient is rounded once.
      ASSERT_TRUE(close(output[0], mean ? sum / weights : sum, 1e-6 * std::abs(sum)));
      ASSERT_EQ(total_weight[0], weights);
    }

    Buffer<float> grad_output("grad_output", whole_numbers(output.size(), 8, 3));
    Buffer<float> grad_input("grad_input", p.input.size());
    nll_loss_kernels.backward(p.loss(reduction), grad_output.data(), total_weight.data(),
                              grad_input.data(), nullptr);
    std::vector<double> expected(p.input.size());
    for (int64_t i = 0; i < p.samples; ++i) {
      expected[p.offset(i, p.target[i])] =
          -p.weight_of(i) * grad_output[each ? i : 0] / (mean ? weights : 1);
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(close(grad_input[i], expected[i], 1e-6 * std::abs(expected[i]))) << i;
    }
  }
}

class NllLossTest : public simt_checker::CheckedTest {};

TEST_F(NllLossTest, ForwardAndBackwardOfEachReduction) {
  for (const Shape& shape : kShapes) {
    check<int64_t>(shape, true);
    check<uint8_t>(shape, false);
  }
}

TEST_F(NllLossTest, ATargetThatIsNoClassFailsTheLaunch) {
  Problem<int64_t> p({33, 5, 1});
  Buffer<float> output("output", 33);
  for (const int64_t bad : {-1, 5}) {
    p.target[32] = bad;
    EXPECT_THROW(
        nll_loss_kernels.forward(p.loss(LossReduction::kNone), output.data(), nullptr, nullptr),
        std::logic_error);
  }
}

}  // namespace
}  // namespace anvil::kernels
