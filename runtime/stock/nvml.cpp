// libnvidia-ml.so.1: the few functions of NVIDIA's management library that torch
// takes for granted where it has a device. Declared here, as NVML's header is not
// among torch's dependencies; signatures and numbers are those of the NVML API
// reference.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runtime/simulator/stand_in.h"

#define NVML_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum nvmlReturn_t : int {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
};

constexpr int kCudaVersion = 13020;
constexpr unsigned kMaxDevices = 16;

// Handles are distinct addresses.
char devices[kMaxDevices];

unsigned count() {
  const int found = anvilSimulatorDeviceCount();
  return found > 0 ? static_cast<unsigned>(found) : 0;
}

}  // namespace

NVML_EXPORT nvmlReturn_t nvmlInit_v2() {
  return anvilSimulatorDeviceCount() >= 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}
NVML_EXPORT nvmlReturn_t nvmlInit() { return nvmlInit_v2(); }
NVML_EXPORT nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

NVML_EXPORT const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case NVML_SUCCESS:
      return "Success";
    case NVML_ERROR_UNINITIALIZED:
      return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
      return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
      return "Not Found";
  }
  return "Unknown Error";
}

NVML_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *version = kCudaVersion;
  return NVML_SUCCESS;
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* number) {
  if (number == nullptr) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *number = count();
  return NVML_SUCCESS;
}

NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (device == nullptr || index >= count()) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  *device = &devices[index];
  return NVML_SUCCESS;
}

// "00000000:01:00.0", as cudaDeviceGetPCIBusId gives it: the bus is index + 1.
NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  unsigned domain = 0, bus = 0, slot = 0;
  if (id == nullptr || device == nullptr ||
      std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  if (domain != 0 || slot != 0 || bus == 0 || bus > count()) {
    return NVML_ERROR_NOT_FOUND;
  }
  *device = &devices[bus - 1];
  return NVML_SUCCESS;
}

// "GPU-" and the bytes of cudaDeviceProp::uuid.
NVML_EXPORT nvmlReturn_t nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  unsigned char bytes[16] = {};
  std::memcpy(bytes, "anvil-simulator", 15);
  bytes[15] = static_cast<unsigned char>(static_cast<char*>(device) - devices);
  char uuid[48] = "GPU-";
  char* end = uuid + std::strlen(uuid);
  for (int i = 0; i < 16; ++i) {
    end +=
        std::snprintf(end, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
  }
  if (text == nullptr || std::strlen(uuid) >= length) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  std::strcpy(text, uuid);
  return NVML_SUCCESS;
}

// There is no list of processes, no NVLink and no fabric.
NVML_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(void*, unsigned*, void*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, void*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
NVML_EXPORT nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(void*, void*) {
  return NVML_ERROR_NOT_SUPPORTED;
}
