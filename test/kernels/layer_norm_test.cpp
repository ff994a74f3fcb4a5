#include "aten_ops/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class LayerNormTest : public simt_checker::CheckedTest {};

TEST_F(LayerNormTest, ForwardAndBackwardAreTheFormulas) {
  constexpr double kEps = 1e-5;
  for (const auto& [rows, columns] :
       {std::pair<int64_t, int64_t>{1, 2}, {3, 31}, {33, 33}, {2, 257}, {5, 1000}, {130, 7}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const size_t n = rows * columns;
    Buffer<float> x("input", normal_numbers(n, 1));
    Buffer<float> weight("weight", normal_numbers(columns, 2));
    Buffer<float> bias("bias", normal_numbers(columns, 3));
    Buffer<float> g("grad_output", normal_numbers(n, 4));
    Buffer<float> y("output", n);
    Buffer<float> mean("mean", rows);
    Buffer<float> rstd("rstd", rows);
    layer_norm_kernels.forward(
        {x.data(), weight.data(), bias.data(), y.data(), mean.data(), rstd.data(),
         ScalarType::Float, ScalarType::Float, rows, columns, kEps},
        nullptr);
    Buffer<float> grad_input("grad_input", n);
    Buffer<float> grad_weight("grad_weight", columns);
    Buffer<float> grad_bias("grad_bias", columns);
    Buffer<char> scratch(
        "scratch", std::max<size_t>(1, layer_norm_kernels.backward_scratch_bytes(rows, columns)));
    layer_norm_kernels.backward(
        {g.data(), x.data(), weight.data(), mean.data(), rstd.data(), grad_input.data(),
         grad_weight.data(), grad_bias.data(), scratch.data(), ScalarType::Float, ScalarType::Float,
         rows, columns},
        nullptr);

    std::vector<double> expected_weight(columns);
    std::vector<double> expected_bias(columns);
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = x.data() + r * columns;
      const float* grad = g.data() + r * columns;
      double m = 0;
      double v = 0;
      for (int64_t c = 0; c < columns; ++c) {
        m += row[c] / double(columns);
      }
      for (int64_t c = 0; c < columns; ++c) {
        v += (row[c] - m) * (row[c] - m) / columns;
      }
      const double s = 1 / std::sqrt(v + kEps);
      double mean_of_grad = 0;
      double mean_of_product = 0;
      for (int64_t c = 0; c < columns; ++c) {
        const double h = (row[c] - m) * s;
        mean_of_grad += grad[c] * weight[c] / double(columns);
        mean_of_product += grad[c] * weight[c] * h / columns;
        expected_weight[c] += grad[c] * h;
        expected_bias[c] += grad[c];
      }
      // float32: rounding of sums of up to 1000 values of order 1, times rstd,
      // which is large where a row has two columns.
      const double tolerance = 1e-5 * (1 + s);
      ASSERT_NEAR(mean[r], m, 1e-6);
      ASSERT_NEAR(rstd[r], s, 1e-5 * s);
      for (int64_t c = 0; c < columns; ++c) {
        const double h = (row[c] - m) * s;
        ASSERT_NEAR(y[r * columns + c], h * weight[c] + bias[c], tolerance);
        ASSERT_NEAR(grad_input[r * columns + c],
                    s * (grad[c] * weight[c] - mean_of_grad - h * mean_of_product), tolerance * s);
      }
    }
    for (int64_t c = 0; c < columns; ++c) {
      ASSERT_NEAR(grad_weight[c], expected_weight[c], 2e-4);
      ASSERT_NEAR(grad_bias[c], expected_bias[c], 2e-4);
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
