// Devices and contexts of the driver API. Each device has its primary context
// and no other: the handle of a context is the device itself.
#include <cstring>

#include "runtime/simulator/device.h"
#include "runtime/simulator/driver/driver.h"
#include "runtime/simulator/stream.h"

namespace anvil::simulator {
namespace {

CUcontext context_of(Device& device) { return reinterpret_cast<CUcontext>(&device); }

Device* find_device(CUcontext context) {
  for (int index = 0; index < config.devices; ++index) {
    if (context_of(device(index)) == context) {
      return &device(index);
    }
  }
  return nullptr;
}

// What cuCtxPushCurrent covered. A thread that pushes deeper than this has lost
// count.
constexpr int kDepth = 64;
struct Covered {
  int devices[kDepth];
  int count;
};
thread_local constinit Covered covered{};

}  // namespace

ANVIL_EXPORT CUresult cuInit(unsigned flags) {
  return driver([&](Thread&) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

ANVIL_EXPORT CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

ANVIL_EXPORT CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *text = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

ANVIL_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

ANVIL_EXPORT CUresult cuDeviceGetCount(int* count) {
  return driver([&](Thread&) {
    if (count == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *count = config.devices;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuDeviceGet(CUdevice* index, int ordinal) {
  return driver([&](Thread&) {
    if (index == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(ordinal)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *index = ordinal;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuDeviceGetName(char* text, int length, CUdevice index) {
  return driver([&](Thread&) {
    if (text == nullptr || length <= 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    std::strncpy(text, config.profile->name, length - 1);
    text[length - 1] = '\0';
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice index) {
  return driver([&](Thread&) {
    if (uuid == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    cudaDeviceProp properties;
    fill_properties(*config.profile, index, config.memory, &properties);
    std::memcpy(uuid, &properties.uuid, sizeof(*uuid));
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuDeviceTotalMem(size_t* bytes, CUdevice index) {
  return driver([&](Thread&) {
    if (bytes == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *bytes = config.memory;
    return CUDA_SUCCESS;
  });
}

// The attributes that only the driver API has; the rest have the runtime's
// numbers.
ANVIL_EXPORT CUresult cuDeviceGetAttribute(int* value,
                                           CUdevice_attribute attribute,
                                           CUdevice index) {
  return driver([&](Thread&) {
    if (value == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
      case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
      default:
        return find_attribute(*config.profile, index, static_cast<cudaDeviceAttr>(attribute), value)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    }
  });
}

ANVIL_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice index, unsigned* flags, int* active) {
  return driver([&](Thread&) {
    if (flags == nullptr || active == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *flags = 0;
    *active = device(index).used.load();
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice index) {
  return driver([&](Thread&) {
    if (context == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(index)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *context = context_of(use_device(index));
    return CUDA_SUCCESS;
  });
}

// The context lives as long as the process.
ANVIL_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice index) {
  return driver(
      [&](Thread&) { return is_device(index) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; });
}

// Null until something made the context of the current device.
ANVIL_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver([&](Thread& thread) {
    if (context == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Device& current = device(thread.device);
    *context = current.used.load() ? context_of(current) : nullptr;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return driver([&](Thread& thread) {
    if (context == nullptr) {
      return CUDA_SUCCESS;
    }
    const Device* found = find_device(context);
    if (found == nullptr) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    thread.device = found->index;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuCtxPushCurrent(CUcontext context) {
  return driver([&](Thread& thread) {
    const Device* found = find_device(context);
    if (found == nullptr || covered.count == kDepth) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    covered.devices[covered.count++] = thread.device;
    thread.device = found->index;
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuCtxPopCurrent(CUcontext* context) {
  return driver([&](Thread& thread) {
    if (covered.count == 0) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (context != nullptr) {
      *context = context_of(device(thread.device));
    }
    thread.device = covered.devices[--covered.count];
    return CUDA_SUCCESS;
  });
}

ANVIL_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return driver([&](Thread& thread) {
    Stream* stream = resolve(handle, thread);
    if (stream == nullptr || context == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *context = context_of(*stream->device);
    return CUDA_SUCCESS;
  });
}

}  // namespace anvil::simulator
