// Sizes and storages of existing tensors.
#include "backend/Resize.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>

#include "backend/CachingAllocator.h"
#include "backend/Stream.h"
#include "generated/factory_native.h"

namespace anvil::native {

namespace {

// Gives `self` the sizes and strides, and its storage the memory that they
// need. A storage never shrinks. Contiguous where `stride` has no value.
void resize_impl(c10::TensorImpl* self, at::IntArrayRef size, at::OptionalIntArrayRef stride) {
  if (self->sizes() == size && (!stride.has_value() || self->strides() == *stride)) {
    return;
  }
  const size_t itemsize = self->dtype().itemsize();
  const auto offset = static_cast<size_t>(self->storage_offset());
  size_t bytes = 0;
  if (stride.has_value()) {
    bytes = at::detail::computeStorageNbytes(size, *stride, itemsize, offset);
    self->set_sizes_and_strides(size, *stride);
  } else {
    bytes = at::detail::computeStorageNbytesContiguous(size, itemsize, offset);
    self->set_sizes_contiguous(size);
  }
  // A tensor without elements may point behind the end of its storage.
  if (self->numel() > 0 && bytes > self->storage().nbytes()) {
    resize_bytes(self->storage().unsafeGetStorageImpl(), bytes);
  }
}

}  // namespace

const at::Tensor& resize_(const at::Tensor& self,
                          at::IntArrayRef size,
                          std::optional<at::MemoryFormat> memory_format) {
  const auto bytes_before = static_cast<int64_t>(self.storage().nbytes());
  resize_impl(self.unsafeGetTensorImpl(), size, std::nullopt);
  if (memory_format.has_value()) {
    TORCH_CHECK(*memory_format != at::MemoryFormat::Preserve, "Unsupported memory format",
                *memory_format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  }
  if (C10_UNLIKELY(at::globalContext().deterministicAlgorithms() &&
                   at::globalContext().deterministicFillUninitializedMemory())) {
    at::native::fill_resize_deterministic_(self, bytes_before);
  }
  return self;
}

at::Tensor& set__source_Storage_storage_offset(at::Tensor& self,
                                               at::Storage source,
                                               int64_t storage_offset,
                                               at::IntArrayRef size,
                                               at::IntArrayRef stride) {
  at::native::checkSetStorage(self, source, storage_offset, size, stride);
  self.unsafeGetTensorImpl()->set_storage_offset(storage_offset);
  resize_impl(self.unsafeGetTensorImpl(), size,
              stride.data() != nullptr ? at::OptionalIntArrayRef(stride) : std::nullopt);
  return self;
}

at::Tensor& set_(at::Tensor& self) {
  at::Storage empty(at::Storage::use_byte_size_t(), 0, getDeviceAllocator(), /*resizable=*/true);
  constexpr int64_t kNoElements[] = {0};
  return set__source_Storage_storage_offset(self, std::move(empty), 0, kNoElements, {});
}

void record_stream(at::Tensor& self, at::Stream stream) {
  getDeviceAllocator()->recordStream(self.storage().data_ptr(), stream);
}

}  // namespace anvil::native
