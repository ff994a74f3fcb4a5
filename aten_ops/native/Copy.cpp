// Copies between tensors. Upstream's copy_ has broadcast nothing and checked
// little when it comes here; it calls _copy_from for every pair with a tensor
// of ours.
//
// Note [Copies]
// What one memcpy can do is one memcpy: equal dtype, and elements in the same
// dense order on both sides. On one device everything else is one kernel
// (kernels/copy.h). Between devices and host the rest goes through dense temporaries:
//   host -> device: laid out on the host as the target is; the dtype is
//     converted where the smaller one crosses the bus
//   device -> host, device -> device: converted and laid out on the source
// Conjugate and negative bits are state of a tensor, not of its memory: memory
// is copied as it is, and where the bits differ, the target is conjugated or
// negated in place.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <torch/library.h>

#include "aten_ops/kernels/copy.h"
#include "aten_ops/native/Loops.h"
#include "backend/BlockingRegion.h"
#include "backend/Event.h"
#include "backend/Exception.h"
#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "backend/HostAllocator.h"
#include "backend/Stream.h"
#include "generated/copy_native.h"
#include "runtime/table.h"

namespace anvil::native {

namespace {

bool is_ours(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }

// One memcpy copies `src` to `dst`, apart from conjugate and negative bits.
bool is_one_memcpy(const at::Tensor& dst, const at::Tensor& src) {
  return dst.scalar_type() == src.scalar_type() && dst.sizes() == src.sizes() &&
         ((dst.is_contiguous() && src.is_contiguous()) ||
          (dst.strides() == src.strides() && dst.is_non_overlapping_and_dense()));
}

bool same_bits(const at::Tensor& dst, const at::Tensor& src) {
  return dst.is_conj() == src.is_conj() && dst.is_neg() == src.is_neg();
}

// After the memory of `src` was copied to `dst`: makes the values equal.
void adjust_bits(const at::Tensor& dst, const at::Tensor& src) {
  if (dst.is_conj() != src.is_conj() && dst.is_complex()) {
    dst.conj_physical_();
  }
  if (dst.is_neg() != src.is_neg() && dst.scalar_type() != at::kBool) {
    dst.neg_();
  }
}

// An uninitialised tensor in the dense order of `like`, else contiguous.
at::Tensor dense_like(const at::Tensor& like, at::ScalarType dtype, c10::Device device) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  if (like.is_non_overlapping_and_dense()) {
    return at::empty_strided(like.sizes(), like.strides(), options);
  }
  return at::empty(like.sizes(), options);
}

// No kernel reads or writes the dtype (complex32, float8_e8m0fnu, bit types).
bool is_without_kernels(at::ScalarType dtype) {
  return kernels::element_size(static_cast<kernels::ScalarType>(dtype)) == 0;
}

// The elements of such a tensor as integers of their size.
at::Tensor as_integers(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return tensor.view(at::kByte);
    case 2:
      return tensor.view(at::kShort);
    case 4:
      return tensor.view(at::kInt);
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "copies of elements of type ", tensor.scalar_type(),
                                  " are not implemented");
  }
}

// On one device, in its current stream. Waits only where a dtype without
// kernels is converted: the host does that.
void copy_on_device(const at::Tensor& dst, const at::Tensor& src) {
  if (is_one_memcpy(dst, src)) {
    if (dst.const_data_ptr() != src.const_data_ptr()) {
      ANVIL_CHECK(runtime::table().cudaMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(),
                                                   dst.nbytes(), cudaMemcpyDeviceToDevice,
                                                   getCurrentStream().stream()));
    }
  } else if ((is_without_kernels(dst.scalar_type()) || is_without_kernels(src.scalar_type())) &&
             dst.scalar_type() != src.scalar_type()) {
    dst.copy_(src.cpu().to(dst.scalar_type()));
    return;
  } else if (is_without_kernels(dst.scalar_type()) && same_bits(dst, src) && !dst.is_conj()) {
    copy_on_device(as_integers(dst), as_integers(src));
  } else {
    auto iterator = at::TensorIteratorConfig()
                        .add_output(dst)
                        .add_const_input(src)
                        .resize_outputs(false)
                        .check_all_same_dtype(false)
                        .build();
    launch_as(iterator, src.scalar_type(), kernels::table().copy.copy);
  }
  adjust_bits(dst, src);
}

// Between devices: in the source's current stream, after what both current
// streams hold now, and before what the target's will hold.
void copy_between_devices(const at::Tensor& dst, const at::Tensor& src) {
  if (!is_one_memcpy(dst, src)) {
    at::Tensor packed = src;
    if (!dst.is_non_overlapping_and_dense() || src.scalar_type() != dst.scalar_type() ||
        src.strides() != dst.strides()) {
      packed = dense_like(dst, dst.scalar_type(), src.device());
      packed.copy_(src);
    }
    if (dst.is_non_overlapping_and_dense()) {
      return copy_between_devices(dst, packed);
    }
    const at::Tensor landed = dense_like(dst, dst.scalar_type(), dst.device());
    copy_between_devices(landed, packed);
    dst.copy_(landed);
    return;
  }
  const Stream source = getCurrentStream(src.device().index());
  const Stream target = getCurrentStream(dst.device().index());
  Event ready;
  ready.record(target);
  ready.block(source);
  {
    const DeviceGuard guard(src.device());
    ANVIL_CHECK(runtime::table().cudaMemcpyPeerAsync(dst.mutable_data_ptr(), dst.device().index(),
                                                     src.const_data_ptr(), src.device().index(),
                                                     dst.nbytes(), source.stream()));
  }
  Event done;
  done.record(source);
  done.block(target);
  adjust_bits(dst, src);
}

// The one memcpy between host and device, in the device's current stream. With
// `non_blocking`, pinned memory stays in use until the stream has passed.
void memcpy_host(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  const bool to_device = is_ours(dst);
  const at::Tensor& host = to_device ? src : dst;
  const DeviceGuard guard(to_device ? dst.device() : src.device());
  const Stream stream = getCurrentStream();
  cudaError_t code = cudaSuccess;
  {
    const BlockingRegion region;  // pageable memory: the call may wait for the stream
    code = runtime::table().cudaMemcpyAsync(
        dst.mutable_data_ptr(), src.const_data_ptr(), dst.nbytes(),
        to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream);
  }
  detail::check(code, to_device ? "cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice)"
                                : "cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost)");
  if (non_blocking) {
    const at::DataPtr& data = host.storage().data_ptr();
    getHostAllocator()->record_event(data.get(), data.get_context(), stream);
  } else {
    stream.synchronize();
  }
}

void copy_from_host(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  if (is_one_memcpy(dst, src)) {
    memcpy_host(dst, src, non_blocking);
    adjust_bits(dst, src);
    return;
  }
  // The smaller type crosses the bus.
  const auto dtype =
      src.element_size() <= dst.element_size() ? src.scalar_type() : dst.scalar_type();
  at::Tensor packed = src;
  if (src.scalar_type() != dtype || !src.is_non_overlapping_and_dense() ||
      src.strides() != dst.strides()) {
    packed = dense_like(dst, dtype, at::kCPU);
    packed.copy_(src);
  }
  if (is_one_memcpy(dst, packed)) {
    // The temporary may go as soon as we return, and it is not pinned.
    memcpy_host(dst, packed, non_blocking && packed.is_same(src));
    adjust_bits(dst, packed);
    return;
  }
  const at::Tensor landed = dense_like(dst, dtype, dst.device());
  copy_from_host(landed, packed, non_blocking && packed.is_same(src));
  dst.copy_(landed);
}

void copy_to_host(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  if (is_one_memcpy(dst, src)) {
    // The host may touch the bits only after the copy.
    memcpy_host(dst, src, non_blocking && same_bits(dst, src));
    adjust_bits(dst, src);
    return;
  }
  // Conversion on the device unless it makes more bytes.
  const auto dtype =
      dst.element_size() <= src.element_size() ? dst.scalar_type() : src.scalar_type();
  at::Tensor packed = src;
  if (src.scalar_type() != dtype || !src.is_non_overlapping_and_dense() ||
      src.strides() != dst.strides()) {
    packed = dense_like(dst, dtype, src.device());
    packed.copy_(src);
  }
  if (is_one_memcpy(dst, packed)) {
    return copy_to_host(dst, packed, non_blocking);
  }
  const at::Tensor landed = dense_like(dst, dtype, at::kCPU);
  memcpy_host(landed, packed, /*non_blocking=*/false);
  adjust_bits(landed, packed);
  dst.copy_(landed);
}

void warn_if_imaginary_is_lost(const at::Tensor& dst, const at::Tensor& src) {
  if (src.is_complex() && !dst.is_complex() && dst.scalar_type() != at::kBool) {
    TORCH_WARN_ONCE("Casting complex values to real discards the imaginary part");
  }
}

}  // namespace

at::Tensor _copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  TORCH_CHECK(self.defined(), "copy_: source is undefined");
  TORCH_CHECK(dst.defined(), "copy_: destination is undefined");
  for (const at::Tensor* tensor : {&self, &dst}) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        tensor->layout() == at::kStrided && (is_ours(*tensor) || tensor->device().is_cpu()),
        "copy_ from ", self.device(), " (", self.layout(), ") to ", dst.device(), " (",
        dst.layout(), ") is not supported; copy through a strided tensor on the CPU");
  }
  const at::Tensor src =
      self.sizes() == dst.sizes() ? self : *at::expand_inplace(dst, self, "copy_");
  if (dst.numel() == 0 ||
      (is_one_memcpy(dst, src) && same_bits(dst, src) && dst.device() == src.device() &&
       dst.const_data_ptr() == src.const_data_ptr())) {
    return dst;
  }
  at::assert_no_internal_overlap(dst);
  warn_if_imaginary_is_lost(dst, src);
  if (dst.device() == src.device()) {
    at::assert_no_partial_overlap(dst, src);
    const DeviceGuard guard(dst.device());
    copy_on_device(dst, src);
  } else if (!is_ours(src)) {
    copy_from_host(dst, src, non_blocking);
  } else if (!is_ours(dst)) {
    copy_to_host(dst, src, non_blocking);
  } else {
    copy_between_devices(dst, src);
  }
  return dst;
}

at::Tensor _copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  at::native::resize_output(dst, self.sizes());
  return _copy_from(self, dst, /*non_blocking=*/false);
}

at::Tensor& zero_(at::Tensor& self) {
  if (self.numel() > 0 && self.is_non_overlapping_and_dense()) {
    // All bits zero are the value 0 of every dtype.
    ANVIL_CHECK(runtime::table().cudaMemsetAsync(self.mutable_data_ptr(), 0, self.nbytes(),
                                                 getCurrentStream().stream()));
    return self;
  }
  return self.fill_(0);
}

namespace {

// The bits and zero tensors are handled above, where the copy happens; these
// keys' own fallbacks would make a copy first.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, ZeroTensor, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace

}  // namespace anvil::native
