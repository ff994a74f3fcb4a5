#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backend/Functions.h"

namespace anvil {
namespace {

std::set<std::string> operators_with(c10::DispatchKey key) {
  std::set<std::string> names;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto found = dispatcher.findOp(name);
    if (found && found->hasKernelForDispatchKey(key)) {
      names.insert(toString(name));
    }
  }
  return names;
}

TEST(Autocast, CastsTheOperatorsThatCudaCasts) {
  auto cuda = operators_with(c10::DispatchKey::AutocastCUDA);
  EXPECT_GT(cuda.size(), 100u);
  // Operators of the cuDNN library have no meaning on another device.
  std::erase_if(cuda,
                [](const std::string& name) { return name.find("cudnn") != std::string::npos; });
  EXPECT_EQ(operators_with(c10::DispatchKey::AutocastPrivateUse1), cuda);
}

TEST(Autocast, OtherOperatorsPassThrough) {
  const auto relu = c10::Dispatcher::singleton().findOp({"aten::relu", ""});
  ASSERT_TRUE(relu.has_value());
  EXPECT_TRUE(relu->hasKernelForDispatchKey(c10::DispatchKey::CPU));
  EXPECT_FALSE(relu->hasKernelForDispatchKey(c10::DispatchKey::AutocastPrivateUse1));
  EXPECT_EQ(at::autocast::get_autocast_dtype(kDeviceType), at::kHalf);
  EXPECT_TRUE(at::autocast::is_autocast_available(kDeviceType));
}

}  // namespace
}  // namespace anvil
