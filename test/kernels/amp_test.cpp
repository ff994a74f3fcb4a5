#include <limits>

#include "aten_ops/kernels/foreach.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class AmpTest : public simt_checker::CheckedTest {};

TEST_F(AmpTest, UnscalesEveryGradientAndFindsAnInfinityInAnyOfThem) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int bad : {-1, 0, 1, 2}) {
    std::vector<std::unique_ptr<Buffer<float>>> gradients;
    std::vector<int64_t> numel;
    std::vector<void*> data;
    for (const int64_t n : {1, 33, 1000}) {
      gradients.push_back(std::make_unique<Buffer<float>>("gradient", whole_numbers(n)));
      if (static_cast<int>(data.size()) == bad) {
        (*gradients.back())[n - 1] = infinity;
      }
      numel.push_back(n);
      data.push_back(gradients.back()->data());
    }
    Buffer<float> inverse_scale("inverse_scale", std::vector<float>{0.5f});
    Buffer<float> found_inf("found_inf", std::vector<float>{0.0f});
    AmpUnscaleProblem problem{ScalarType::Float, {}, inverse_scale.data(), found_inf.data()};
    problem.lists.nlists = 1;
    problem.lists.count = 3;
    problem.lists.numel = numel.data();
    problem.lists.data[0] = data.data();
    foreach_kernels.amp_unscale(problem, nullptr);
    EXPECT_EQ(found_inf[0], bad < 0 ? 0.0f : 1.0f);
    for (size_t t = 0; t < 3; ++t) {
      const auto before = whole_numbers(numel[t]);
      for (int64_t i = 0; i < numel[t]; ++i) {
        const bool infinite = static_cast<int>(t) == bad && i == numel[t] - 1;
        ASSERT_EQ((*gradients[t])[i], infinite ? infinity : before[i] * 0.5f);
      }
    }
  }
}

}  // namespace
}  // namespace anvil::kernels
