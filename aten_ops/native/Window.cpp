// The Kaiser window: the one window that upstream computes by a stub.
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/i0.h>

namespace at::native {
namespace {

// i0(beta * sqrt(1 - x^2)) / i0(beta) at x = 2 n / (length - 1) - 1; the
// iterator's input holds n. (Kaiser, Schafer 1980: "On the use of the I0-sinh window".)
void kaiser_window(TensorIteratorBase& iter, const int64_t length, const double beta) {
  const Tensor& result = iter.tensor(0);
  const ScalarType dtype = toOpMathType(result.scalar_type());
  const Tensor x = iter.tensor(1).to(dtype).mul(2.0 / static_cast<double>(length - 1)).sub_(1);
  const Tensor argument = x.square_().neg_().add_(1).clamp_min_(0).sqrt_().mul_(beta);
  const Tensor largest = at::i0(argument.new_full({}, beta));
  result.copy_(at::i0(argument).div_(largest));
}

}  // namespace

REGISTER_PRIVATEUSE1_DISPATCH(kaiser_window_stub, &kaiser_window)

}  // namespace at::native
