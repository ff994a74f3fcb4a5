#include "aten_ops/kernels/batch_norm.h"

#include <algorithm>
#include <ostream>
#include <type_traits>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {

// For the names of tests.
void PrintTo(const BatchNormShape& s, std::ostream* out) {
  *out << s.batch << "x" << s.channels << "x" << s.positions
       << (s.channels_last ? " channels last" : "");
}

namespace {

using simt_checker::Buffer;

// Batch, channels, positions. Channels whose sums one block takes and several
// take (parts of the batch, parts of the positions); with the channels last, one
// tile of channels and several.
constexpr BatchNormShape kShapes[] = {{1, 1, 2, false},    {3, 5, 7, false},    {2, 3, 2049, false},
                                      {33, 2, 300, false}, {2, 1, 9000, false}, {3, 5, 7, true},
                                      {2, 257, 2, true},   {70, 33, 3, true}};
constexpr double kEps = 1e-5;

// Input and weights of T and W. Results are float's up to rounding to T.
template <class T, class W>
struct Problem {
  BatchNormShape shape;
  size_t numel = shape.batch * shape.channels * shape.positions;
  size_t channels = shape.channels;
  int64_t count = shape.batch * shape.positions;
  Buffer<T> x{"input", normal_numbers<T>(numel, 1)};
  Buffer<T> g{"grad_output", normal_numbers<T>(numel, 2)};
  Buffer<W> weight{"weight", normal_numbers<W>(channels, 3)};
  Buffer<W> bias{"bias", normal_numbers<W>(channels, 4)};
  Buffer<float> mean{"mean", channels};
  Buffer<float> invstd{"invstd", channels};
  std::vector<double> means = std::vector<double>(channels);
  std::vector<double> variances = std::vector<double>(channels);

  explicit Problem(const BatchNormShape& s) : shape(s) {
    for (size_t i = 0; i < numel; ++i) {
      means[channel(i)] += double(x[i]) / count;
    }
    for (size_t i = 0; i < numel; ++i) {
      const double d = double(x[i]) - means[channel(i)];
      variances[channel(i)] += d * d / count;
    }
    for (size_t c = 0; c < channels; ++c) {
      mean[c] = static_cast<float>(means[c]);
      invstd[c] = static_cast<float>(scale(c));
    }
  }
  size_t channel(size_t i) const {
    return shape.channels_last ? i % channels : i / shape.positions % channels;
  }
  double scale(size_t c) const { return 1 / std::sqrt(variances[c] + kEps); }
  double centred(size_t i) const { return double(x[i]) - means[channel(i)]; }
  // Some roundings of T at values of this size.
  static double tolerance(double size) {
    return (std::is_same_v<T, float>  ? 1e-5
            : std::is_same_v<T, Half> ? 1e-3
                                      : 8e-3) *
           (1 + std::abs(size));
  }
};

template <class T, class W>
void check_forward(const BatchNormShape& shape) {
  Problem<T, W> p(shape);
  Buffer<T> y("output", p.numel);
  BatchNorm n{p.x.data(), p.weight.data(),   p.bias.data(),     p.mean.data(), p.invstd.data(),
              y.data(),   scalar_type_of<T>, scalar_type_of<W>, shape};
  batch_norm_kernels.normalize(n, nullptr);
  for (size_t i = 0; i < p.numel; ++i) {
    const size_t c = p.channel(i);
    const double expected = p.centred(i) * p.scale(c) * double(p.weight[c]) + double(p.bias[c]);
    ASSERT_TRUE(close(y[i], expected, p.tolerance(expected))) << i;
  }
  n.weight = n.bias = nullptr;
  batch_norm_kernels.normalize(n, nullptr);
  for (size_t i = 0; i < p.numel; ++i) {
    const double expected = p.centred(i) * p.scale(p.channel(i));
    ASSERT_TRUE(close(y[i], expected, p.tolerance(expected))) << i;
  }
}

template <class T, class W>
void check_backward(const BatchNormShape& shape, bool train, uint64_t order) {
  simt_checker::set_order_seed(order);
  Problem<T, W> p(shape);
  Buffer<T> grad_input("grad_input", p.numel);
  Buffer<W> grad_weight("grad_weight", p.channels);
  Buffer<W> grad_bias("grad_bias", p.channels);
  Buffer<float> sums("sums", 2 * p.channels);
  Buffer<char> scratch("scratch", batch_norm_kernels.backward_scratch_bytes(shape));
  batch_norm_kernels.backward(
      {p.g.data(), p.x.data(), p.weight.data(), p.mean.data(), p.invstd.data(), grad_input.data(),
       grad_weight.data(), grad_bias.data(), sums.data(), scratch.data(), train, scalar_type_of<T>,
       scalar_type_of<W>, shape},
      nullptr);
  std::vector<double> sum(p.channels);
  std::vector<double> dot(p.channels);
  for (size_t i = 0; i < p.numel; ++i) {
    sum[p.channel(i)] += double(p.g[i]);
    dot[p.channel(i)] += double(p.g[i]) * p.centred(i);
  }
  for (size_t c = 0; c < p.channels; ++c) {
    // float sums of up to 9900 numbers of order 1.
    const double rounding = 1e-4 * (1 + p.scale(c));
    ASSERT_TRUE(close(grad_bias[c], sum[c], rounding + p.tolerance(sum[c]))) << c;
    ASSERT_TRUE(
        close(grad_weight[c], dot[c] * p.scale(c), rounding + p.tolerance(dot[c] * p.scale(c))))
        << c;
  }
  for (size_t i = 0; i < p.numel; ++i) {
    const size_t c = p.channel(i);
    const double s = p.scale(c);
    const double shift = train ? sum[c] / p.count + p.centred(i) * s * s * dot[c] / p.count : 0.0;
    const double expected = (double(p.g[i]) - shift) * s * double(p.weight[c]);
    ASSERT_TRUE(close(grad_input[i], expected, p.tolerance(expected) * (1 + s))) << i;
  }
}

class BatchNormTest : public simt_checker::CheckedTest,
                      public testing::WithParamInterface<BatchNormShape> {};

TEST_P(BatchNormTest, ForwardIsTheFormula) {
  check_forward<float, float>(GetParam());
  check_forward<Half, float>(GetParam());
  check_forward<BFloat16, BFloat16>({2, 3, 33, GetParam().channels_last});
}

TEST_P(BatchNormTest, BackwardIsTheDerivativeInTrainingAndInEvaluation) {
  check_backward<float, float>(GetParam(), true, 0);
  check_backward<float, float>(GetParam(), false, 1);
  check_backward<Half, float>(GetParam(), true, 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchNormTest, testing::ValuesIn(kShapes));

TEST_F(BatchNormTest, GradientsThatNobodyWantsAreNotWritten) {
  for (const bool channels_last : {false, true}) {
    const BatchNormShape shape{3, 5, 7, channels_last};
    Problem<float, float> p(shape);
    Buffer<float> sums("sums", 2 * p.channels);
    Buffer<char> scratch("scratch", batch_norm_kernels.backward_scratch_bytes(shape));
    Buffer<float> grad_input("grad_input", p.numel);
    BatchNormBackward n{p.g.data(),
                        p.x.data(),
                        nullptr,
                        p.mean.data(),
                        p.invstd.data(),
                        grad_input.data(),
                        nullptr,
                        nullptr,
                        sums.data(),
                        scratch.data(),
                        true,
                        ScalarType::Float,
                        ScalarType::Float,
                        shape};
    batch_norm_kernels.backward(n, nullptr);
    // The input does not see its own scale: the gradient is orthogonal to it.
    std::vector<double> dot(p.channels);
    for (size_t i = 0; i < p.numel; ++i) {
      dot[p.channel(i)] += grad_input[i] * p.centred(i);
    }
    for (const double d : dot) {
      ASSERT_NEAR(d, 0, 1e-3);
    }
    n.grad_input = nullptr;
    batch_norm_kernels.backward(n, nullptr);
  }
}

TEST_F(BatchNormTest, RunningStatisticsMoveTowardsTheBatchAndServeEvaluation) {
  constexpr double kMomentum = 0.1;
  for (const int64_t channels : kOddSizes) {
    const auto means = normal_numbers(channels, 1);
    std::vector<float> variances = normal_numbers(channels, 2);
    std::transform(variances.begin(), variances.end(), variances.begin(),
                   [](float v) { return v * v; });
    const auto running = normal_numbers<Half>(channels, 3);
    Buffer<float> mean("mean", means);
    Buffer<float> invstd("invstd", variances);
    Buffer<Half> running_mean("running_mean", running);
    Buffer<Half> running_var("running_var", std::vector<Half>(channels, Half(1)));
    BatchNormStatistics s{mean.data(),
                          invstd.data(),
                          running_mean.data(),
                          running_var.data(),
                          ScalarType::Half,
                          ScalarType::Half,
                          channels,
                          7,
                          kMomentum,
                          kEps};
    batch_norm_kernels.finish_statistics(s, nullptr);
    for (int64_t c = 0; c < channels; ++c) {
      const double scale = 1 / std::sqrt(variances[c] + kEps);
      ASSERT_TRUE(close(invstd[c], scale, 1e-6 * scale));
      const double blend = 0.9 * float(running[c]) + kMomentum * means[c];
      ASSERT_TRUE(close(running_mean[c], blend, 1e-3 * (1 + std::abs(blend))));
      const double variance = 0.9 + kMomentum * variances[c] * 7 / 6;
      ASSERT_TRUE(close(running_var[c], variance, 1e-3 * variance));
    }
    batch_norm_kernels.statistics_from_running(s, nullptr);
    for (int64_t c = 0; c < channels; ++c) {
      ASSERT_EQ(mean[c], float(running_mean[c]));
      const double scale = 1 / std::sqrt(double(running_var[c]) + kEps);
      ASSERT_TRUE(close(invstd[c], scale, 1e-6 * scale));
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
