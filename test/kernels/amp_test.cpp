#include <limits>

#include "aten_ops/kernels/foreach.h"
#include "test/kernels/list_buffers.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class AmpTest : public simt_checker::CheckedTest {};

TEST_F(AmpTest, UnscalesEveryGradientAndFindsAnInfinityInAnyOfThem) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int bad : {-1, 0, 33, 1033}) {  // the last element of a tensor
    std::vector<float> values = whole_numbers(1 + 33 + 1000);
    if (bad >= 0) {
      values[bad] = infinity;
    }
    ListBuffers<float> lists({1, 33, 1000});
    lists.add("gradient", values);
    Buffer<float> inverse_scale("inverse_scale", std::vector<float>{0.5f});
    Buffer<float> found_inf("found_inf", std::vector<float>{0.0f});
    foreach_kernels.amp_unscale(
        {ScalarType::Float, lists.view(), inverse_scale.data(), found_inf.data()}, nullptr);
    EXPECT_EQ(found_inf[0], bad < 0 ? 0.0f : 1.0f);
    const std::vector<float> unscaled = lists.values(0);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(unscaled[i], values[i] * 0.5f) << i;
    }
  }
}

TEST_F(AmpTest, ScaleGrowsAfterAnIntervalAndFallsAtAnInfinity) {
  Buffer<float> scale("scale", std::vector<float>{8});
  Buffer<int> tracker("growth_tracker", std::vector<int>{0});
  Buffer<float> found_inf("found_inf", std::vector<float>{0});
  struct {
    float found_inf;
    float scale;
    int tracker;
  } const steps[] = {{0, 8, 1}, {0, 16, 0}, {0, 16, 1}, {1, 4, 0}, {0, 4, 1}};
  for (const auto& step : steps) {
    found_inf[0] = step.found_inf;
    foreach_kernels.amp_update_scale({scale.data(), tracker.data(), found_inf.data(), 2.0, 0.25, 2},
                                     nullptr);
    EXPECT_EQ(scale[0], step.scale);
    EXPECT_EQ(tracker[0], step.tracker);
  }
}

}  // namespace
}  // namespace anvil::kernels
