#include "aten_ops/kernels/reduce.h"

#include <algorithm>
#include <memory>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;
using simt_checker::set_order_seed;

// Matrices [rows, columns], reduced over either: rows of a team, columns of a
// block, one output per thread; one part and several.
struct Matrix {
  int64_t rows;
  int64_t columns;
};
constexpr Matrix kMatrices[] = {{1, 1},    {1, 31},   {1, 1000}, {3, 33},    {33, 3},  {257, 2},
                                {5, 1025}, {1000, 1}, {127, 65}, {1, 20000}, {3000, 5}};

class ReduceTest : public simt_checker::CheckedTest {
 protected:
  // Over the columns of each row, or over the rows of each column.
  static Reduction reduction(const Matrix& m, bool of_rows) {
    Reduction r;
    r.kept.count = r.reduced.count = 1;
    r.kept.size[0] = of_rows ? m.rows : m.columns;
    r.kept.stride[0][0] = of_rows ? m.columns : 1;
    r.kept.stride[1][0] = 1;
    r.reduced.size[0] = of_rows ? m.columns : m.rows;
    r.reduced.stride[0][0] = of_rows ? 1 : m.columns;
    return r;
  }

  // f(m, of_rows, seed) for every problem.
  template <class F>
  static void for_each_problem(F f) {
    for (const Matrix& m : kMatrices) {
      for (const bool of_rows : {true, false}) {
        for (const uint64_t seed : {0, 1}) {
          set_order_seed(seed);
          SCOPED_TRACE(std::to_string(m.rows) + " x " + std::to_string(m.columns) +
                       (of_rows ? " over columns" : " over rows"));
          f(m, of_rows);
        }
      }
    }
  }
  static std::unique_ptr<Buffer<char>> give_scratch(Reduction& r) {
    auto scratch = std::make_unique<Buffer<char>>(
        "scratch", std::max<size_t>(1, reduce_kernels.scratch_bytes(r)));
    r.scratch = scratch->data();
    return scratch;
  }
};

TEST_F(ReduceTest, SumsOfWholeNumbersAreExact) {
  for_each_problem([](const Matrix& m, bool of_rows) {
    Buffer<float> in("in", whole_numbers(m.rows * m.columns));
    Reduction r = reduction(m, of_rows);
    Buffer<float> out("out", r.kept.size[0]);
    r.input = in.data();
    r.output = out.data();
    r.input_dtype = r.output_dtype = ScalarType::Float;
    const auto scratch = give_scratch(r);
    reduce_kernels.sum(r, nullptr);
    for (int64_t k = 0; k < r.kept.size[0]; ++k) {
      int64_t sum = 0;
      for (int64_t j = 0; j < r.reduced.size[0]; ++j) {
        sum += static_cast<int64_t>(in[k * r.kept.stride[0][0] + j * r.reduced.stride[0][0]]);
      }
      ASSERT_EQ(out[k], static_cast<float>(sum)) << k;
    }
  });
}

TEST_F(ReduceTest, TheFirstMaximumAndItsPosition) {
  for_each_problem([](const Matrix& m, bool of_rows) {
    Buffer<int64_t> in("in", whole_numbers<int64_t>(m.rows * m.columns));
    Reduction r = reduction(m, of_rows);
    Buffer<int64_t> out("out", r.kept.size[0]);
    Buffer<int64_t> position("position", r.kept.size[0]);
    r.input = in.data();
    r.output = out.data();
    r.second = position.data();
    r.input_dtype = r.output_dtype = r.second_dtype = ScalarType::Long;
    const auto scratch = give_scratch(r);
    reduce_kernels.max_with_index(r, nullptr);
    for (int64_t k = 0; k < r.kept.size[0]; ++k) {
      int64_t best = 0;
      const auto at = [&](int64_t j) {
        return in[k * r.kept.stride[0][0] + j * r.reduced.stride[0][0]];
      };
      for (int64_t j = 1; j < r.reduced.size[0]; ++j) {
        best = at(j) > at(best) ? j : best;
      }
      ASSERT_EQ(out[k], at(best)) << k;
      ASSERT_EQ(position[k], best) << k;
    }
  });
}

TEST_F(ReduceTest, MeanAndVarianceOfTwoPasses) {
  for_each_problem([](const Matrix& m, bool of_rows) {
    Buffer<float> in("in", normal_numbers(m.rows * m.columns));
    Reduction r = reduction(m, of_rows);
    Buffer<float> variance("variance", r.kept.size[0]);
    Buffer<float> mean("mean", r.kept.size[0]);
    r.input = in.data();
    r.output = variance.data();
    r.second = mean.data();
    r.input_dtype = r.output_dtype = r.second_dtype = ScalarType::Float;
    const auto scratch = give_scratch(r);
    reduce_kernels.variance(r, 0, false, nullptr);
    const int64_t n = r.reduced.size[0];
    for (int64_t k = 0; k < r.kept.size[0]; ++k) {
      const auto at = [&](int64_t j) {
        return double(in[k * r.kept.stride[0][0] + j * r.reduced.stride[0][0]]);
      };
      double sum = 0;
      double squares = 0;
      for (int64_t j = 0; j < n; ++j) {
        sum += at(j);
      }
      for (int64_t j = 0; j < n; ++j) {
        squares += (at(j) - sum / n) * (at(j) - sum / n);
      }
      // float32, values of order 1.
      ASSERT_NEAR(mean[k], sum / n, 1e-6);
      ASSERT_NEAR(variance[k], squares / n, 1e-5 * (1 + squares / n));
    }
  });
}

}  // namespace
}  // namespace anvil::kernels
