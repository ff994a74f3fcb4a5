// What the driver API says of and does to memory beside the runtime API.
#include "runtime/simulator/memory.h"

#include "runtime/simulator/copy.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/driver/driver.h"

namespace anvil::simulator {
namespace {

void* address(CUdeviceptr pointer) { return reinterpret_cast<void*>(pointer); }

CUresult fill_words(CUstream handle,
                    CUdeviceptr pointer,
                    uint32_t value,
                    size_t count,
                    const char* function = __builtin_FUNCTION()) {
  return driver(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        if (stream == nullptr) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        if (pointer % sizeof(uint32_t) != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        const size_t bytes = count * sizeof(uint32_t);
        return driver_error(
            fill(address(pointer), bytes, {value, sizeof(uint32_t)}, bytes, 1, *stream));
      },
      function);
}

}  // namespace

ANVIL_EXPORT CUresult cuMemsetD32Async(CUdeviceptr pointer,
                                       unsigned value,
                                       size_t count,
                                       CUstream stream) {
  return fill_words(stream, pointer, value, count);
}

ANVIL_EXPORT CUresult cuStreamWriteValue32(CUstream stream,
                                           CUdeviceptr pointer,
                                           cuuint32_t value,
                                           unsigned) {
  return fill_words(stream, pointer, value, 1);
}

ANVIL_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr* begin, size_t* bytes, CUdeviceptr pointer) {
  return driver([&](Thread&) {
    const Location location = locate(address(pointer));
    if (location.place != Place::kDevice && location.place != Place::kPinned) {
      return CUDA_ERROR_NOT_FOUND;
    }
    if (begin != nullptr) {
      *begin = reinterpret_cast<CUdeviceptr>(location.begin);
    }
    if (bytes != nullptr) {
      *bytes = location.bytes;
    }
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuPointerGetAttribute(void* value,
                                            CUpointer_attribute attribute,
                                            CUdeviceptr pointer) {
  return driver([&](Thread&) {
    const Location location = locate(address(pointer));
    if (value == nullptr || location.begin == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext*>(value) = reinterpret_cast<CUcontext>(&use_device(location.device));
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(value) =
            location.on_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *static_cast<CUdeviceptr*>(value) = pointer;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(value) = location.device;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<void**>(value) = location.begin;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<size_t*>(value) = location.bytes;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

}  // namespace anvil::simulator
