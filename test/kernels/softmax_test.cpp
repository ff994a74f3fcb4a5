#include "aten_ops/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

// The last dimension, short to longer than a staged row; a middle one; one of
// size 1; rows that share a block.
constexpr SoftmaxShape kShapes[] = {{1, 1, 1},    {3, 31, 1},   {2, 33, 1}, {5, 257, 1},
                                    {1, 1000, 1}, {2, 5000, 1}, {2, 7, 3},  {1, 33, 65},
                                    {3, 1, 5},    {2, 3, 257}};
// float32 against double: two roundings of exp and one of the quotient, and a
// sum of up to 5000 terms.
constexpr double kTolerance = 5e-6;

class SoftmaxTest : public simt_checker::CheckedTest {
 protected:
  // f(offset of the first element) for each row; elements are `inner` apart.
  template <class F>
  static void for_each_row(const SoftmaxShape& shape, F f) {
    for (int64_t o = 0; o < shape.outer; ++o) {
      for (int64_t i = 0; i < shape.inner; ++i) {
        f(o * shape.dim * shape.inner + i);
      }
    }
  }
  static size_t numel(const SoftmaxShape& s) { return s.outer * s.dim * s.inner; }
};

TEST_F(SoftmaxTest, SoftmaxAndLogSoftmaxAreThoseOfEachRow) {
  for (const SoftmaxShape& shape : kShapes) {
    Buffer<float> in("in", normal_numbers(numel(shape)));
    Buffer<float> out("out", numel(shape));
    Buffer<float> log_out("log_out", numel(shape));
    softmax_kernels.softmax(in.data(), ScalarType::Float, out.data(), ScalarType::Float, shape,
                            nullptr);
    softmax_kernels.log_softmax(in.data(), ScalarType::Float, log_out.data(), ScalarType::Float,
                                shape, nullptr);
    for_each_row(shape, [&](int64_t row) {
      double sum = 0;
      for (int64_t d = 0; d < shape.dim; ++d) {
        sum += std::exp(double(in[row + d * shape.inner]));
      }
      for (int64_t d = 0; d < shape.dim; ++d) {
        const int64_t at = row + d * shape.inner;
        const double expected = std::exp(double(in[at])) / sum;
        ASSERT_NEAR(out[at], expected, kTolerance * expected) << shape.dim << " " << at;
        ASSERT_NEAR(log_out[at], std::log(expected), kTolerance * 20) << shape.dim << " " << at;
      }
    });
  }
}

TEST_F(SoftmaxTest, BackwardIsTheProductWithTheJacobian) {
  for (const SoftmaxShape& shape : kShapes) {
    const auto grad = normal_numbers(numel(shape), 2);
    const auto logits = normal_numbers(numel(shape), 3);
    Buffer<float> grad_output("grad_output", grad);
    Buffer<float> output("output", numel(shape));
    Buffer<float> log_output("log_output", numel(shape));
    for_each_row(shape, [&](int64_t row) {
      double sum = 0;
      for (int64_t d = 0; d < shape.dim; ++d) {
        sum += std::exp(double(logits[row + d * shape.inner]));
      }
      for (int64_t d = 0; d < shape.dim; ++d) {
        const int64_t at = row + d * shape.inner;
        output[at] = static_cast<float>(std::exp(double(logits[at])) / sum);
        log_output[at] = static_cast<float>(double(logits[at]) - std::log(sum));
      }
    });
    Buffer<float> grad_input("grad_input", numel(shape));
    Buffer<float> log_grad_input("log_grad_input", numel(shape));
    softmax_kernels.softmax_backward(grad_output.data(), output.data(), ScalarType::Float,
                                     grad_input.data(), ScalarType::Float, shape, nullptr);
    softmax_kernels.log_softmax_backward(grad_output.data(), log_output.data(), ScalarType::Float,
                                         log_grad_input.data(), ScalarType::Float, shape, nullptr);
    for_each_row(shape, [&](int64_t row) {
      double dot = 0;
      double sum = 0;
      double magnitude = 1;
      for (int64_t d = 0; d < shape.dim; ++d) {
        const int64_t at = row + d * shape.inner;
        dot += double(grad[at]) * output[at];
        sum += grad[at];
        magnitude += std::abs(grad[at]);
      }
      for (int64_t d = 0; d < shape.dim; ++d) {
        const int64_t at = row + d * shape.inner;
        const double p = std::exp(double(log_output[at]));
        ASSERT_NEAR(grad_input[at], (grad[at] - dot) * output[at], 1e-5);
        ASSERT_NEAR(log_grad_input[at], grad[at] - p * sum, 1e-6 * magnitude);
      }
    });
  }
}

}  // namespace
}  // namespace anvil::kernels
