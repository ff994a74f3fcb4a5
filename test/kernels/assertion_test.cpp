#include "aten_ops/kernels/assertion.h"

#include <stdexcept>

#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class AssertionTest : public simt_checker::CheckedTest {};

TEST_F(AssertionTest, FailsTheLaunchWithItsMessageOnlyWhereTheConditionIsFalse) {
  Buffer<bool> condition("condition", std::vector<bool>{true});
  assertion_kernels.check(condition.data(), "holds", nullptr);
  condition[0] = false;
  const std::string message(300, 'x');
  testing::internal::CaptureStderr();
  EXPECT_THROW(assertion_kernels.check(condition.data(), message.c_str(), nullptr),
               std::logic_error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "device-side assertion failed: " + message.substr(0, 255) + "\n");
}

}  // namespace
}  // namespace anvil::kernels
