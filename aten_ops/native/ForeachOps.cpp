// _foreach_* over lists of tensors: one launch for many tensors where their
// kernels can serve them, else upstream's loop of single operators.
#include <ATen/native/ForeachUtils.h>
#include <ATen/ops/_foreach_abs_native.h>
#include <ATen/ops/_foreach_add_native.h>
#include <ATen/ops/_foreach_addcdiv_native.h>
#include <ATen/ops/_foreach_addcmul_native.h>
#include <ATen/ops/_foreach_clamp_max_native.h>
#include <ATen/ops/_foreach_clamp_min_native.h>
#include <ATen/ops/_foreach_copy_native.h>
#include <ATen/ops/_foreach_div_native.h>
#include <ATen/ops/_foreach_exp_native.h>
#include <ATen/ops/_foreach_lerp_native.h>
#include <ATen/ops/_foreach_mul_native.h>
#include <ATen/ops/_foreach_neg_native.h>
#include <ATen/ops/_foreach_reciprocal_native.h>
#include <ATen/ops/_foreach_rsqrt_native.h>
#include <ATen/ops/_foreach_sqrt_native.h>
#include <ATen/ops/_foreach_sub_native.h>
#include <ATen/ops/_foreach_zero_native.h>

#include "aten_ops/KernelLibrary.h"
#include "aten_ops/kernels/foreach.h"
#include "aten_ops/native/TensorLists.h"
#include "backend/Stream.h"
#include "generated/foreach_native.h"

namespace anvil::native {
namespace {

using at::ArrayRef;
using at::Scalar;
using at::Tensor;
using at::TensorList;
using kernels::ForeachOp;
using Tensors = std::vector<Tensor>;

void run(ForeachOp op,
         TensorList first,
         const TensorListPointers& pointers,
         const void* device_factor = nullptr) {
  const kernels::ForeachProblem problem{
      .op = op,
      .dtype = static_cast<kernels::ScalarType>(first[0].scalar_type()),
      .lists = pointers.view(),
      .device_factor = device_factor};
  kernels::table().foreach.elementwise(problem, getCurrentStream());
}

// op over (out; inputs...) with one scalar for all tensors, or one for each.
template <class... Inputs>
void run_scalar(ForeachOp op, const Scalar& scalar, TensorList out, Inputs... inputs) {
  TensorListPointers pointers({out, inputs...});
  pointers.set_scalar(scalar.toDouble());
  run(op, out, pointers);
}
template <class... Inputs>
void run_scalars(ForeachOp op, ArrayRef<Scalar> scalars, TensorList out, Inputs... inputs) {
  TensorListPointers pointers({out, inputs...});
  pointers.set_scalars(scalars);
  run(op, out, pointers);
}

Scalar negated(const Scalar& scalar) { return Scalar(-scalar.toDouble()); }
std::vector<Scalar> negated(ArrayRef<Scalar> scalars) {
  std::vector<Scalar> result;
  for (const Scalar& scalar : scalars) {
    result.push_back(negated(scalar));
  }
  return result;
}
const Scalar& same(const Scalar& scalar) { return scalar; }
ArrayRef<Scalar> same(ArrayRef<Scalar> scalars) { return scalars; }

// A factor on the same device and of the same dtype can be read by the kernel.
bool can_read_factor(TensorList tensors, const Tensor& other) {
  return other.device() == tensors[0].device() && other.scalar_type() == tensors[0].scalar_type();
}

void check_one_element(const char* name, const Tensor& other) {
  TORCH_CHECK(other.dim() == 0 && other.numel() == 1,
              "scalar tensor expected to be 0 dim but it has ", other.dim(), " dimensions and ",
              other.numel(), " elements.");
}

}  // namespace

#define ANVIL_FOREACH_UNARY(name, op)                         \
  Tensors _foreach_##name(TensorList self) {                  \
    at::native::check_foreach_api_restrictions(self);         \
    if (!can_use_foreach_kernels({self})) {                   \
      return at::native::foreach_tensor_##name##_slow(self);  \
    }                                                         \
    Tensors result = empty_like_each(self);                   \
    run_scalar(ForeachOp::op, 0, result, self);               \
    return result;                                            \
  }                                                           \
  void _foreach_##name##_(TensorList self) {                  \
    at::native::check_foreach_api_restrictions(self);         \
    if (!can_use_foreach_kernels({self})) {                   \
      return at::native::foreach_tensor_##name##_slow_(self); \
    }                                                         \
    run_scalar(ForeachOp::op, 0, self, self);                 \
  }
ANVIL_FOREACH_UNARY(abs, kAbs)
ANVIL_FOREACH_UNARY(exp, kExp)
ANVIL_FOREACH_UNARY(neg, kNeg)
ANVIL_FOREACH_UNARY(reciprocal, kReciprocal)
ANVIL_FOREACH_UNARY(rsqrt, kRsqrt)
ANVIL_FOREACH_UNARY(sqrt, kSqrt)
#undef ANVIL_FOREACH_UNARY

void _foreach_zero_(TensorList self) {
  at::native::check_foreach_api_restrictions(self);
  if (!can_use_foreach_kernels({self})) {
    return at::native::foreach_tensor_zero_slow_(self);
  }
  run_scalar(ForeachOp::kZero, 0, self);
}

// name: upstream's; op: with a scalar; map: what the scalar becomes (sub adds -s).
#define ANVIL_FOREACH_BINARY_SCALAR(name, op, map)                                       \
  Tensors _foreach_##name##_Scalar(TensorList self, const Scalar& scalar) {              \
    at::native::check_foreach_api_restrictions(self);                                    \
    if (!can_use_foreach_kernels({self}, scalar)) {                                      \
      return at::native::foreach_tensor_##name##_scalar_kernel_slow(self, scalar);       \
    }                                                                                    \
    Tensors result = empty_like_each(self);                                              \
    run_scalar(ForeachOp::op, map(scalar), result, self);                                \
    return result;                                                                       \
  }                                                                                      \
  void _foreach_##name##__Scalar(TensorList self, const Scalar& scalar) {                \
    at::native::check_foreach_api_restrictions(self);                                    \
    if (!can_use_foreach_kernels({self}, scalar)) {                                      \
      return at::native::foreach_tensor_##name##_scalar_kernel_slow_(self, scalar);      \
    }                                                                                    \
    run_scalar(ForeachOp::op, map(scalar), self, self);                                  \
  }                                                                                      \
  Tensors _foreach_##name##_ScalarList(TensorList self, ArrayRef<Scalar> scalars) {      \
    at::native::check_foreach_api_restrictions(self, scalars);                           \
    if (!can_use_foreach_kernels({self}, scalars)) {                                     \
      return at::native::foreach_tensor_##name##_scalarlist_kernel_slow(self, scalars);  \
    }                                                                                    \
    Tensors result = empty_like_each(self);                                              \
    run_scalars(ForeachOp::op, map(scalars), result, self);                              \
    return result;                                                                       \
  }                                                                                      \
  void _foreach_##name##__ScalarList(TensorList self, ArrayRef<Scalar> scalars) {        \
    at::native::check_foreach_api_restrictions(self, scalars);                           \
    if (!can_use_foreach_kernels({self}, scalars)) {                                     \
      return at::native::foreach_tensor_##name##_scalarlist_kernel_slow_(self, scalars); \
    }                                                                                    \
    run_scalars(ForeachOp::op, map(scalars), self, self);                                \
  }
ANVIL_FOREACH_BINARY_SCALAR(add, kAddScalar, same)
ANVIL_FOREACH_BINARY_SCALAR(sub, kAddScalar, negated)
ANVIL_FOREACH_BINARY_SCALAR(mul, kMulScalar, same)
ANVIL_FOREACH_BINARY_SCALAR(div, kDivScalar, same)
ANVIL_FOREACH_BINARY_SCALAR(clamp_min, kMaxScalar, same)
ANVIL_FOREACH_BINARY_SCALAR(clamp_max, kMinScalar, same)
#undef ANVIL_FOREACH_BINARY_SCALAR

#define ANVIL_FOREACH_BINARY_LIST(name, op)                                      \
  Tensors _foreach_##name##_List(TensorList self, TensorList other) {            \
    at::native::check_foreach_api_restrictions(self, other);                     \
    if (!can_use_foreach_kernels({self, other})) {                               \
      return at::native::foreach_tensor_##name##_list_kernel_slow(self, other);  \
    }                                                                            \
    Tensors result = empty_like_each(self);                                      \
    run_scalar(ForeachOp::op, 0, result, self, other);                           \
    return result;                                                               \
  }                                                                              \
  void _foreach_##name##__List(TensorList self, TensorList other) {              \
    at::native::check_foreach_api_restrictions(self, other);                     \
    if (!can_use_foreach_kernels({self, other})) {                               \
      return at::native::foreach_tensor_##name##_list_kernel_slow_(self, other); \
    }                                                                            \
    run_scalar(ForeachOp::op, 0, self, self, other);                             \
  }
ANVIL_FOREACH_BINARY_LIST(mul, kMulList)
ANVIL_FOREACH_BINARY_LIST(div, kDivList)
ANVIL_FOREACH_BINARY_LIST(clamp_min, kMaxList)
ANVIL_FOREACH_BINARY_LIST(clamp_max, kMinList)
#undef ANVIL_FOREACH_BINARY_LIST

#define ANVIL_FOREACH_BINARY_LIST_ALPHA(name, map)                                         \
  Tensors _foreach_##name##_List(TensorList self, TensorList other, const Scalar& alpha) { \
    at::native::check_foreach_api_restrictions(self, other);                               \
    if (!can_use_foreach_kernels({self, other}, alpha)) {                                  \
      return at::native::foreach_tensor_##name##_list_kernel_slow(self, other, alpha);     \
    }                                                                                      \
    Tensors result = empty_like_each(self);                                                \
    run_scalar(ForeachOp::kAddList, map(alpha), result, self, other);                      \
    return result;                                                                         \
  }                                                                                        \
  void _foreach_##name##__List(TensorList self, TensorList other, const Scalar& alpha) {   \
    at::native::check_foreach_api_restrictions(self, other);                               \
    if (!can_use_foreach_kernels({self, other}, alpha)) {                                  \
      return at::native::foreach_tensor_##name##_list_kernel_slow_(self, other, alpha);    \
    }                                                                                      \
    run_scalar(ForeachOp::kAddList, map(alpha), self, self, other);                        \
  }
ANVIL_FOREACH_BINARY_LIST_ALPHA(add, same)
ANVIL_FOREACH_BINARY_LIST_ALPHA(sub, negated)
#undef ANVIL_FOREACH_BINARY_LIST_ALPHA

// One tensor of one element, read by the kernel and not by the host.
#define ANVIL_FOREACH_BINARY_TENSOR(name, op)                                      \
  Tensors _foreach_##name##_Tensor(TensorList self, const Tensor& other) {         \
    at::native::check_foreach_api_restrictions(self);                              \
    check_one_element(#name, other);                                               \
    if (!can_use_foreach_kernels({self}) || !can_read_factor(self, other)) {       \
      return at::native::foreach_tensor_##name##_tensor_kernel_slow(self, other);  \
    }                                                                              \
    Tensors result = empty_like_each(self);                                        \
    TensorListPointers pointers({TensorList(result), self});                       \
    pointers.set_scalar(1);                                                        \
    run(ForeachOp::op, result, pointers, other.const_data_ptr());                  \
    return result;                                                                 \
  }                                                                                \
  void _foreach_##name##__Tensor(TensorList self, const Tensor& other) {           \
    at::native::check_foreach_api_restrictions(self);                              \
    check_one_element(#name, other);                                               \
    if (!can_use_foreach_kernels({self}) || !can_read_factor(self, other)) {       \
      return at::native::foreach_tensor_##name##_tensor_kernel_slow_(self, other); \
    }                                                                              \
    TensorListPointers pointers({self, self});                                     \
    pointers.set_scalar(1);                                                        \
    run(ForeachOp::op, self, pointers, other.const_data_ptr());                    \
  }
ANVIL_FOREACH_BINARY_TENSOR(mul, kMulScalar)
ANVIL_FOREACH_BINARY_TENSOR(div, kDivScalar)
#undef ANVIL_FOREACH_BINARY_TENSOR

Tensors _foreach_add_Tensor(TensorList self, const Tensor& other, const Scalar& alpha) {
  at::native::check_foreach_api_restrictions(self);
  check_one_element("add", other);
  if (!can_use_foreach_kernels({self}, alpha) || !can_read_factor(self, other)) {
    return at::native::foreach_tensor_add_tensor_kernel_slow(self, other, alpha);
  }
  Tensors result = empty_like_each(self);
  TensorListPointers pointers({TensorList(result), self});
  pointers.set_scalar(alpha.toDouble());
  run(ForeachOp::kAddScalar, result, pointers, other.const_data_ptr());
  return result;
}

void _foreach_add__Tensor(TensorList self, const Tensor& other, const Scalar& alpha) {
  at::native::check_foreach_api_restrictions(self);
  check_one_element("add", other);
  if (!can_use_foreach_kernels({self}, alpha) || !can_read_factor(self, other)) {
    return at::native::foreach_tensor_add_tensor_kernel_slow_(self, other, alpha);
  }
  TensorListPointers pointers({self, self});
  pointers.set_scalar(alpha.toDouble());
  run(ForeachOp::kAddScalar, self, pointers, other.const_data_ptr());
}

#define ANVIL_FOREACH_POINTWISE(name, op)                                                          \
  Tensors _foreach_##name##_Scalar(TensorList self, TensorList tensor1, TensorList tensor2,        \
                                   const Scalar& value) {                                          \
    at::native::check_foreach_api_restrictions(self, tensor1, tensor2);                            \
    if (!can_use_foreach_kernels({self, tensor1, tensor2}, value)) {                               \
      return at::native::foreach_tensor_##name##_scalar_slow(self, tensor1, tensor2, value);       \
    }                                                                                              \
    Tensors result = empty_like_each(self);                                                        \
    run_scalar(ForeachOp::op, value, result, self, tensor1, tensor2);                              \
    return result;                                                                                 \
  }                                                                                                \
  void _foreach_##name##__Scalar(TensorList self, TensorList tensor1, TensorList tensor2,          \
                                 const Scalar& value) {                                            \
    at::native::check_foreach_api_restrictions(self, tensor1, tensor2);                            \
    if (!can_use_foreach_kernels({self, tensor1, tensor2}, value)) {                               \
      return at::native::foreach_tensor_##name##_scalar_slow_(self, tensor1, tensor2, value);      \
    }                                                                                              \
    run_scalar(ForeachOp::op, value, self, self, tensor1, tensor2);                                \
  }                                                                                                \
  Tensors _foreach_##name##_ScalarList(TensorList self, TensorList tensor1, TensorList tensor2,    \
                                       ArrayRef<Scalar> scalars) {                                 \
    at::native::check_foreach_api_restrictions(self, tensor1, tensor2, scalars);                   \
    if (!can_use_foreach_kernels({self, tensor1, tensor2}, scalars)) {                             \
      return at::native::foreach_tensor_##name##_scalarlist_slow(self, tensor1, tensor2, scalars); \
    }                                                                                              \
    Tensors result = empty_like_each(self);                                                        \
    run_scalars(ForeachOp::op, scalars, result, self, tensor1, tensor2);                           \
    return result;                                                                                 \
  }                                                                                                \
  void _foreach_##name##__ScalarList(TensorList self, TensorList tensor1, TensorList tensor2,      \
                                     ArrayRef<Scalar> scalars) {                                   \
    at::native::check_foreach_api_restrictions(self, tensor1, tensor2, scalars);                   \
    if (!can_use_foreach_kernels({self, tensor1, tensor2}, scalars)) {                             \
      return at::native::foreach_tensor_##name##_scalarlist_slow_(self, tensor1, tensor2,          \
                                                                  scalars);                        \
    }                                                                                              \
    run_scalars(ForeachOp::op, scalars, self, self, tensor1, tensor2);                             \
  }                                                                                                \
  Tensors _foreach_##name##_Tensor(TensorList self, TensorList tensor1, TensorList tensor2,        \
                                   const Tensor& scalars) {                                        \
    return _foreach_##name##_ScalarList(                                                           \
        self, tensor1, tensor2,                                                                    \
        at::native::convert_tensor_to_scalar_list(scalars, static_cast<int64_t>(self.size())));    \
  }                                                                                                \
  void _foreach_##name##__Tensor(TensorList self, TensorList tensor1, TensorList tensor2,          \
                                 const Tensor& scalars) {                                          \
    _foreach_##name##__ScalarList(                                                                 \
        self, tensor1, tensor2,                                                                    \
        at::native::convert_tensor_to_scalar_list(scalars, static_cast<int64_t>(self.size())));    \
  }
ANVIL_FOREACH_POINTWISE(addcmul, kAddcmul)
ANVIL_FOREACH_POINTWISE(addcdiv, kAddcdiv)
#undef ANVIL_FOREACH_POINTWISE

Tensors _foreach_lerp_List(TensorList self, TensorList tensors1, TensorList weights) {
  at::native::check_foreach_api_restrictions(self, tensors1, weights);
  if (!can_use_foreach_kernels({self, tensors1, weights})) {
    return at::native::foreach_tensor_ternary_lerp_slow(self, tensors1, weights);
  }
  Tensors result = empty_like_each(self);
  run_scalar(ForeachOp::kLerpList, 0, result, self, tensors1, weights);
  return result;
}

void _foreach_lerp__List(TensorList self, TensorList tensors1, TensorList weights) {
  at::native::check_foreach_api_restrictions(self, tensors1, weights);
  if (!can_use_foreach_kernels({self, tensors1, weights})) {
    return at::native::foreach_tensor_ternary_lerp_slow_(self, tensors1, weights);
  }
  run_scalar(ForeachOp::kLerpList, 0, self, self, tensors1, weights);
}

Tensors _foreach_lerp_Scalar(TensorList self, TensorList tensors1, const Scalar& weight) {
  at::native::check_foreach_api_restrictions(self, tensors1);
  if (!can_use_foreach_kernels({self, tensors1}, weight)) {
    return at::native::foreach_tensor_lerp_list_kernel_slow(self, tensors1, weight);
  }
  Tensors result = empty_like_each(self);
  run_scalar(ForeachOp::kLerpScalar, weight, result, self, tensors1);
  return result;
}

void _foreach_lerp__Scalar(TensorList self, TensorList tensors1, const Scalar& weight) {
  at::native::check_foreach_api_restrictions(self, tensors1);
  if (!can_use_foreach_kernels({self, tensors1}, weight)) {
    return at::native::foreach_tensor_lerp_list_kernel_slow_(self, tensors1, weight);
  }
  run_scalar(ForeachOp::kLerpScalar, weight, self, self, tensors1);
}

Tensors _foreach_lerp_ScalarList(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  at::native::check_foreach_api_restrictions(self, tensors1, weight);
  if (!can_use_foreach_kernels({self, tensors1}, weight)) {
    return at::native::foreach_tensor_lerp_scalarlist_kernel_slow(self, tensors1, weight);
  }
  Tensors result = empty_like_each(self);
  run_scalars(ForeachOp::kLerpScalar, weight, result, self, tensors1);
  return result;
}

void _foreach_lerp__ScalarList(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  at::native::check_foreach_api_restrictions(self, tensors1, weight);
  if (!can_use_foreach_kernels({self, tensors1}, weight)) {
    return at::native::foreach_tensor_lerp_scalarlist_kernel_slow_(self, tensors1, weight);
  }
  run_scalars(ForeachOp::kLerpScalar, weight, self, self, tensors1);
}

void _foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  at::native::check_foreach_api_restrictions(self, src);
  if (!can_use_foreach_kernels({self, src})) {
    return at::native::foreach_tensor_copy_list_kernel_slow_(self, src, non_blocking);
  }
  run_scalar(ForeachOp::kCopy, 0, self, src);
}

}  // namespace anvil::native
