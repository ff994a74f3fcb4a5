#include "backend/Resize.h"

#include <c10/util/Exception.h>

#include <algorithm>

#include "backend/CachingAllocator.h"
#include "backend/Exception.h"
#include "backend/GuardImpl.h"
#include "backend/Stream.h"
#include "runtime/table.h"

namespace anvil {

void resize_bytes(c10::StorageImpl* storage, size_t bytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  c10::Allocator* allocator = storage->allocator();
  TORCH_CHECK(allocator != nullptr, "Trying to resize storage without an allocator");

  const c10::Device device = storage->device();
  const DeviceGuard guard(device);
  if (bytes == 0) {
    storage->set_data_ptr_noswap(c10::DataPtr(nullptr, device));
    storage->set_nbytes(0);
    return;
  }

  c10::DataPtr data = allocator->allocate(bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept > 0 && storage->data() != nullptr) {
    const Stream stream = getCurrentStream(device.index());
    ANVIL_CHECK(runtime::table().cudaMemcpyAsync(data.get(), storage->data(), kept,
                                                 cudaMemcpyDeviceToDevice, stream.stream()));
    getDeviceAllocator()->recordStream(storage->data_ptr(), stream);
  }
  storage->set_data_ptr_noswap(std::move(data));
  storage->set_nbytes(bytes);
}

}  // namespace anvil
