#include "aten_ops/kernels/pooling.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

// Positions of a window, in images of the input.
using Window = std::function<std::vector<int64_t>(int64_t out_h, int64_t out_w)>;

// Whole numbers: sums are exact.
struct Problem {
  PoolShape shape;
  int64_t planes = shape.batch * shape.channels;
  int64_t in_positions = shape.in_height * shape.in_width;
  int64_t out_positions = shape.out_height * shape.out_width;
  Buffer<float> input{"input", whole_numbers(planes * in_positions, 100)};
  Buffer<float> output{"output", static_cast<size_t>(planes * out_positions)};
  Buffer<float> grad_output{"grad_output", whole_numbers(planes * out_positions, 8, 2)};
  Buffer<float> grad_input{"grad_input", static_cast<size_t>(planes * in_positions)};

  explicit Problem(const PoolShape& s) : shape(s) {}

  // Offset of a position of an image with `positions`.
  size_t offset(int64_t plane, int64_t position, int64_t positions) const {
    return shape.channels_last ? (plane / shape.channels * positions + position) * shape.channels +
                                     plane % shape.channels
                               : plane * positions + position;
  }
  size_t in(int64_t plane, int64_t position) const { return offset(plane, position, in_positions); }
  size_t out(int64_t plane, int64_t position) const {
    return offset(plane, position, out_positions);
  }
  // f(plane, output position, positions of its window)
  template <class F>
  void for_each_window(const Window& window, F f) const {
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t o = 0; o < out_positions; ++o) {
        f(plane, o, window(o / shape.out_width, o % shape.out_width));
      }
    }
  }
};

Window fixed(const PoolShape& s, const PoolWindow& w) {
  return [=](int64_t out_h, int64_t out_w) {
    std::vector<int64_t> positions;
    for (int64_t kh = 0; kh < w.height; ++kh) {
      for (int64_t kw = 0; kw < w.width; ++kw) {
        const int64_t h = out_h * w.stride_height - w.pad_height + kh * w.dilation_height;
        const int64_t x = out_w * w.stride_width - w.pad_width + kw * w.dilation_width;
        if (h >= 0 && h < s.in_height && x >= 0 && x < s.in_width) {
          positions.push_back(h * s.in_width + x);
        }
      }
    }
    return positions;
  };
}

Window adaptive(const PoolShape& s) {
  return [=](int64_t out_h, int64_t out_w) {
    std::vector<int64_t> positions;
    for (int64_t h = out_h * s.in_height / s.out_height;
         h * s.out_height < (out_h + 1) * s.in_height; ++h) {
      for (int64_t w = out_w * s.in_width / s.out_width; w * s.out_width < (out_w + 1) * s.in_width;
           ++w) {
        positions.push_back(h * s.in_width + w);
      }
    }
    return positions;
  };
}

// Batch, channels, input, output; window, stride, padding, dilation. Windows that
// overlap, leave gaps, are dilated, lie partly beside the image (ceil mode).
struct FixedCase {
  PoolShape shape;
  PoolWindow window;
};
constexpr FixedCase kFixed[] = {
    {{1, 1, 1, 1, 1, 1, false}, {1, 1, 1, 1, 0, 0}},
    {{2, 3, 7, 9, 4, 5, false}, {3, 3, 2, 2, 1, 1}},
    {{2, 3, 7, 9, 4, 5, true}, {3, 3, 2, 2, 1, 1}},
    {{1, 5, 13, 11, 4, 3, true}, {2, 3, 3, 4, 0, 1}},
    {{1, 2, 33, 31, 17, 16, false}, {2, 2, 2, 2, 0, 0}},
    {{3, 1, 6, 5, 3, 3, false}, {2, 2, 2, 2, 0, 0}},
};
constexpr FixedCase kDilated = {{1, 3, 9, 8, 5, 2, false}, {3, 3, 1, 2, 0, 0, 2, 3}};
constexpr PoolShape kAdaptive[] = {{1, 1, 7, 5, 1, 1, false},
                                   {2, 3, 7, 9, 3, 4, false},
                                   {2, 3, 7, 9, 3, 4, true},
                                   {1, 2, 3, 5, 4, 7, false}};

class PoolingTest : public simt_checker::CheckedTest {};

void check_max(const FixedCase& c, float special) {
  Problem p(c.shape);
  p.input[p.input.size() / 2] = special;
  Buffer<int64_t> indices("indices", p.output.size());
  pooling_kernels.max(p.input.data(), p.output.data(), indices.data(), ScalarType::Float, c.shape,
                      c.window, nullptr);
  std::vector<float> expected_grad(p.input.size());
  p.for_each_window(fixed(c.shape, c.window), [&](int64_t plane, int64_t o, const auto& window) {
    int64_t best = window.front();
    for (const int64_t i : window) {
      const float value = p.input[p.in(plane, i)];
      if (!std::isnan(p.input[p.in(plane, best)]) &&
          (value > p.input[p.in(plane, best)] || std::isnan(value))) {
        best = i;
      }
    }
    ASSERT_TRUE(close(p.output[p.out(plane, o)], p.input[p.in(plane, best)], 0));
    ASSERT_EQ(indices[p.out(plane, o)], best);
    expected_grad[p.in(plane, best)] += p.grad_output[p.out(plane, o)];
  });
  pooling_kernels.max_backward(p.grad_output.data(), indices.data(), p.grad_input.data(),
                               ScalarType::Float, c.shape, c.window, nullptr);
  EXPECT_EQ(p.grad_input.to_vector(), expected_grad);
}

TEST_F(PoolingTest, MaximumIsTheFirstOfAWindowAndGetsItsGradient) {
  for (const FixedCase& c : kFixed) {
    check_max(c, 0);
    check_max(c, std::numeric_limits<float>::quiet_NaN());
    check_max(c, -std::numeric_limits<float>::infinity());
  }
  check_max(kDilated, 0);
}

// An average divides by divisor(number of the window's positions, output position).
template <class Forward, class Backward, class Divisor>
void check_average(
    Problem& p, const Window& window, Forward forward, Backward backward, Divisor divisor) {
  forward();
  backward();
  std::vector<double> expected_grad(p.input.size());
  p.for_each_window(window, [&](int64_t plane, int64_t o, const auto& positions) {
    double sum = 0;
    const double d = divisor(static_cast<int64_t>(positions.size()), o);
    for (const int64_t i : positions) {
      sum += p.input[p.in(plane, i)];
      expected_grad[p.in(plane, i)] += p.grad_output[p.out(plane, o)] / d;
    }
    // The quotient is rounded once.
    ASSERT_TRUE(
        close(p.output[p.out(plane, o)], positions.empty() ? 0 : sum / d, 1e-7 * std::abs(sum)));
  });
  for (size_t i = 0; i < expected_grad.size(); ++i) {
    // A sum of at most nine rounded quotients of numbers up to 8.
    ASSERT_TRUE(close(p.grad_input[i], expected_grad[i], 1e-5)) << i;
  }
}

TEST_F(PoolingTest, AverageOfFixedWindowsWithEachDivisor) {
  for (const FixedCase& c : kFixed) {
    for (const bool count_include_pad : {false, true}) {
      for (const int64_t divisor_override : {0, 5}) {
        const AveragePool pool{c.window, count_include_pad, divisor_override};
        Problem p(c.shape);
        // The part of a window that lies on the padded image, along one dimension.
        const auto padded = [](int64_t begin, int64_t size, int64_t end) {
          return std::min(begin + size, end) - begin;
        };
        check_average(
            p, fixed(c.shape, c.window),
            [&] {
              pooling_kernels.average(p.input.data(), p.output.data(), ScalarType::Float, c.shape,
                                      pool, nullptr);
            },
            [&] {
              pooling_kernels.average_backward(p.grad_output.data(), p.grad_input.data(),
                                               ScalarType::Float, c.shape, pool, nullptr);
            },
            [&](int64_t inside, int64_t o) {
              const PoolWindow& w = c.window;
              return divisor_override != 0 ? divisor_override
                     : !count_include_pad
                         ? inside
                         : padded(o / c.shape.out_width * w.stride_height - w.pad_height, w.height,
                                  c.shape.in_height + w.pad_height) *
                               padded(o % c.shape.out_width * w.stride_width - w.pad_width, w.width,
                                      c.shape.in_width + w.pad_width);
            });
      }
    }
  }
}

TEST_F(PoolingTest, AverageOfAdaptiveWindows) {
  for (const PoolShape& shape : kAdaptive) {
    Problem p(shape);
    check_average(
        p, adaptive(shape),
        [&] {
          pooling_kernels.adaptive_average(p.input.data(), p.output.data(), ScalarType::Float,
                                           shape, nullptr);
        },
        [&] {
          pooling_kernels.adaptive_average_backward(p.grad_output.data(), p.grad_input.data(),
                                                    ScalarType::Float, shape, nullptr);
        },
        [](int64_t inside, int64_t) { return inside; });
  }
}

}  // namespace
}  // namespace anvil::kernels
