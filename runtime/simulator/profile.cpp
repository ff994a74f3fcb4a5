#include "runtime/simulator/profile.h"

#include <cstdio>
#include <cstring>

namespace anvil::simulator {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

constexpr Profile kProfiles[] = {
    {"h100", "NVIDIA H100 80GB HBM3 (simulated)", 9, 0, 132, 2048, 32, 80 * kGiB, 228 * kKiB,
     227 * kKiB, 50 * kMiB, 5120, 1980000, 2619000},
    {"a100", "NVIDIA A100-SXM4-40GB (simulated)", 8, 0, 108, 2048, 32, 40 * kGiB, 164 * kKiB,
     163 * kKiB, 40 * kMiB, 5120, 1410000, 1215000},
    {"l4", "NVIDIA L4 (simulated)", 8, 9, 58, 1536, 24, 24 * kGiB, 100 * kKiB, 99 * kKiB, 48 * kMiB,
     192, 2040000, 6251000},
    // Small enough that launch limits and out of memory are reached by tests.
    {"tiny", "Anvil tiny (simulated)", 9, 0, 2, 1024, 16, 256 * kMiB, 100 * kKiB, 99 * kKiB,
     1 * kMiB, 64, 1000000, 1000000},
};

constexpr int kWarp = 32;
constexpr int kThreadsPerBlock = 1024;
constexpr int kBlockDimensions[3] = {1024, 1024, 64};
constexpr int kGridDimensions[3] = {2147483647, 65535, 65535};
constexpr size_t kSharedPerBlock = 48 * kKiB;
constexpr size_t kReservedShared = 1 * kKiB;
constexpr int kRegisters = 65536;
constexpr size_t kConstantMemory = 64 * kKiB;
constexpr int kMaxPitch = 2147483647;

}  // namespace

const Profile* find_profile(std::string_view key) {
  for (const Profile& profile : kProfiles) {
    if (key == profile.key) {
      return &profile;
    }
  }
  return nullptr;
}

const char* profile_keys() { return "h100, a100, l4, tiny"; }

void fill_properties(const Profile& p, int device, size_t memory, cudaDeviceProp* out) {
  std::memset(out, 0, sizeof(*out));
  std::snprintf(out->name, sizeof(out->name), "%s", p.name);
  // A UUID that tells the devices of a process apart and stays the same.
  std::memcpy(out->uuid.bytes, "anvil-simulator", 15);
  out->uuid.bytes[15] = static_cast<char>(device);
  out->totalGlobalMem = memory;
  out->sharedMemPerBlock = kSharedPerBlock;
  out->regsPerBlock = kRegisters;
  out->warpSize = kWarp;
  out->memPitch = kMaxPitch;
  out->maxThreadsPerBlock = kThreadsPerBlock;
  std::memcpy(out->maxThreadsDim, kBlockDimensions, sizeof(kBlockDimensions));
  std::memcpy(out->maxGridSize, kGridDimensions, sizeof(kGridDimensions));
  out->totalConstMem = kConstantMemory;
  out->major = p.major;
  out->minor = p.minor;
  out->textureAlignment = 512;
  out->texturePitchAlignment = 32;
  out->multiProcessorCount = p.multiprocessors;
  out->canMapHostMemory = 1;
  out->surfaceAlignment = 512;
  out->concurrentKernels = 1;
  out->ECCEnabled = 1;
  out->pciBusID = device + 1;
  out->asyncEngineCount = 3;
  out->unifiedAddressing = 1;
  out->memoryBusWidth = p.memory_bus_bits;
  out->l2CacheSize = static_cast<int>(p.l2_cache);
  out->maxThreadsPerMultiProcessor = p.threads_per_multiprocessor;
  out->streamPrioritiesSupported = 1;
  out->globalL1CacheSupported = 1;
  out->localL1CacheSupported = 1;
  out->sharedMemPerMultiprocessor = p.shared_per_multiprocessor;
  out->regsPerMultiprocessor = kRegisters;
  out->multiGpuBoardGroupID = device;
  out->computePreemptionSupported = 1;
  out->canUseHostPointerForRegisteredMem = 1;
  out->sharedMemPerBlockOptin = p.shared_per_block_optin;
  out->maxBlocksPerMultiProcessor = p.blocks_per_multiprocessor;
  out->reservedSharedMemPerBlock = kReservedShared;
  out->hostRegisterSupported = 1;
  out->managedMemory = 1;
  out->concurrentManagedAccess = 1;
  out->memoryPoolsSupported = 1;
  out->ipcEventSupported = 1;
  out->deviceNumaId = -1;
  out->hostNumaId = -1;
}

bool find_attribute(const Profile& p, int device, cudaDeviceAttr attribute, int* value) {
  cudaDeviceProp all;
  fill_properties(p, device, p.memory, &all);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = all.maxThreadsPerBlock;
      return true;
    case cudaDevAttrMaxBlockDimX:
      *value = all.maxThreadsDim[0];
      return true;
    case cudaDevAttrMaxBlockDimY:
      *value = all.maxThreadsDim[1];
      return true;
    case cudaDevAttrMaxBlockDimZ:
      *value = all.maxThreadsDim[2];
      return true;
    case cudaDevAttrMaxGridDimX:
      *value = all.maxGridSize[0];
      return true;
    case cudaDevAttrMaxGridDimY:
      *value = all.maxGridSize[1];
      return true;
    case cudaDevAttrMaxGridDimZ:
      *value = all.maxGridSize[2];
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(all.sharedMemPerBlock);
      return true;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(all.totalConstMem);
      return true;
    case cudaDevAttrWarpSize:
      *value = all.warpSize;
      return true;
    case cudaDevAttrMaxPitch:
      *value = kMaxPitch;
      return true;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = all.regsPerBlock;
      return true;
    case cudaDevAttrClockRate:
      *value = p.clock_khz;
      return true;
    case cudaDevAttrTextureAlignment:
      *value = static_cast<int>(all.textureAlignment);
      return true;
    case cudaDevAttrTexturePitchAlignment:
      *value = static_cast<int>(all.texturePitchAlignment);
      return true;
    case cudaDevAttrGpuOverlap:
      *value = 1;
      return true;
    case cudaDevAttrMultiProcessorCount:
      *value = all.multiProcessorCount;
      return true;
    case cudaDevAttrKernelExecTimeout:
      *value = 0;
      return true;
    case cudaDevAttrIntegrated:
      *value = all.integrated;
      return true;
    case cudaDevAttrCanMapHostMemory:
      *value = all.canMapHostMemory;
      return true;
    case cudaDevAttrComputeMode:
      *value = cudaComputeModeDefault;
      return true;
    case cudaDevAttrConcurrentKernels:
      *value = all.concurrentKernels;
      return true;
    case cudaDevAttrEccEnabled:
      *value = all.ECCEnabled;
      return true;
    case cudaDevAttrPciBusId:
      *value = all.pciBusID;
      return true;
    case cudaDevAttrPciDeviceId:
      *value = all.pciDeviceID;
      return true;
    case cudaDevAttrPciDomainId:
      *value = all.pciDomainID;
      return true;
    case cudaDevAttrTccDriver:
      *value = all.tccDriver;
      return true;
    case cudaDevAttrMemoryClockRate:
      *value = p.memory_clock_khz;
      return true;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = all.memoryBusWidth;
      return true;
    case cudaDevAttrL2CacheSize:
      *value = all.l2CacheSize;
      return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = all.maxThreadsPerMultiProcessor;
      return true;
    case cudaDevAttrAsyncEngineCount:
      *value = all.asyncEngineCount;
      return true;
    case cudaDevAttrUnifiedAddressing:
      *value = all.unifiedAddressing;
      return true;
    case cudaDevAttrComputeCapabilityMajor:
      *value = all.major;
      return true;
    case cudaDevAttrComputeCapabilityMinor:
      *value = all.minor;
      return true;
    case cudaDevAttrStreamPrioritiesSupported:
      *value = 1;
      return true;
    case cudaDevAttrGlobalL1CacheSupported:
      *value = all.globalL1CacheSupported;
      return true;
    case cudaDevAttrLocalL1CacheSupported:
      *value = all.localL1CacheSupported;
      return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(all.sharedMemPerMultiprocessor);
      return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = all.regsPerMultiprocessor;
      return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      *value = p.minor == 0 ? 2 : 64;
      return true;
    case cudaDevAttrComputePreemptionSupported:
      *value = 1;
      return true;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      *value = 1;
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(all.sharedMemPerBlockOptin);
      return true;
    case cudaDevAttrHostRegisterSupported:
      *value = 1;
      return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = all.maxBlocksPerMultiProcessor;
      return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(all.reservedSharedMemPerBlock);
      return true;
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrIpcEventSupport:
      *value = 1;
      return true;
    // What the simulator does not offer.
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrMpsEnabled:
      *value = 0;
      return true;
    case cudaDevAttrMultiGpuBoardGroupID:
      *value = all.multiGpuBoardGroupID;
      return true;
    default:
      return false;
  }
}

}  // namespace anvil::simulator
