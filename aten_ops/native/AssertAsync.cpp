// _assert_async: a check of a value on the device that the host does not wait for.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ne.h>

#include <string>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/assertion.h"
#include "backend/Stream.h"
#include "generated/assertion_native.h"

namespace anvil::native {

void _assert_async_msg(const at::Tensor& self, std::string_view assert_msg) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() < 2, "Boolean value of Tensor with more than one value is ambiguous");
  const at::Tensor condition = self.scalar_type() == at::kBool ? self : self.ne(0);
  kernels::table().assertion.check(condition.const_data_ptr<bool>(),
                                   std::string(assert_msg).c_str(), getCurrentStream());
}

void _assert_async(const at::Tensor& self) {
  _assert_async_msg(self, "_assert_async: the value is zero");
}

}  // namespace anvil::native
