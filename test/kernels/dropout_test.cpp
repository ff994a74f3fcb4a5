#include "aten_ops/kernels/dropout.h"

#include "test/kernels/draws.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

constexpr PhiloxState kState{.seed = 42, .offset = 4};
constexpr float kKeep = 0.75f;
const Draws kDraws{kState, 2};

// The draw that decides over element i where threads take `vector` consecutive
// elements: groups of four draws, of which a pair leaves two unused.
float draw_of(int64_t i, int vector) {
  if (vector == 1) {
    return kDraws.uniform_of(i);
  }
  const int64_t thread = i / vector % kDraws.threads();
  const int64_t round = i / vector / kDraws.threads();
  const int64_t draws_a_round = vector == 2 ? 4 : vector;
  return kDraws.uniform(thread, round * draws_a_round + i % vector);
}

class DropoutTest : public simt_checker::CheckedTest {
 protected:
  template <class T>
  static void check(int64_t n, int vector) {
    const auto values = whole_numbers<T>(n);
    Buffer<T> input("input", values);
    Buffer<T> output("output", n);
    Buffer<bool> mask("mask", n);
    dropout_kernels.dropout(input.data(), output.data(), mask.data(), scalar_type_of<T>, n, kKeep,
                            vector, {.blocks = 2}, kState, nullptr);
    Buffer<T> gradient("gradient", n);
    dropout_kernels.masked_scale(input.data(), mask.data(), gradient.data(), scalar_type_of<T>, n,
                                 2, nullptr);
    for (int64_t i = 0; i < n; ++i) {
      const bool kept = draw_of(i, vector) < kKeep;
      ASSERT_EQ(mask[i], kept) << vector << " " << n << " " << i;
      const double value = static_cast<double>(values[i]);
      ASSERT_TRUE(close(output[i], kept ? value / kKeep : 0, sizeof(T) == 2 ? 1e-2 : 1e-6));
      ASSERT_EQ(static_cast<double>(gradient[i]), kept ? value * 2 : 0);
    }
  }
};

TEST_F(DropoutTest, MaskValueAndGradientOfElementsAGridApart) {
  for (const int64_t n : {1, 33, 257, 2049, 4097, 5000}) {
    check<float>(n, 1);
  }
}

TEST_F(DropoutTest, MaskValueAndGradientOfConsecutiveElements) {
  for (const int64_t vectors : {1, 33, 257, 512, 600}) {
    check<double>(vectors * 2, 2);
    check<float>(vectors * 4, 4);
    check<Half>(vectors * 8, 8);
  }
}

}  // namespace
}  // namespace anvil::kernels
