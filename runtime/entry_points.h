// The CUDA runtime functions that Anvil calls, by name. One list: the table's
// members, its loader and the simulator's completeness check are made from it.
//
// X(name): a function of the CUDA runtime API with the signature in
// <cuda_runtime_api.h>.
#pragma once

#define ANVIL_FOR_EACH_ENTRY_POINT(X) \
  /* Device management */             \
  X(cudaGetDeviceCount)               \
  X(cudaGetDevice)                    \
  X(cudaSetDevice)                    \
  X(cudaGetDeviceProperties)          \
  X(cudaDeviceGetAttribute)           \
  X(cudaDeviceGetPCIBusId)            \
  X(cudaDeviceGetStreamPriorityRange) \
  X(cudaDeviceSynchronize)            \
  X(cudaDeviceCanAccessPeer)          \
  X(cudaDeviceEnablePeerAccess)       \
  X(cudaDeviceDisablePeerAccess)      \
  X(cudaDriverGetVersion)             \
  X(cudaRuntimeGetVersion)            \
  /* Errors */                        \
  X(cudaGetLastError)                 \
  X(cudaPeekAtLastError)              \
  X(cudaGetErrorName)                 \
  X(cudaGetErrorString)               \
  /* Streams */                       \
  X(cudaStreamCreateWithFlags)        \
  X(cudaStreamCreateWithPriority)     \
  X(cudaStreamDestroy)                \
  X(cudaStreamQuery)                  \
  X(cudaStreamSynchronize)            \
  X(cudaStreamWaitEvent)              \
  X(cudaStreamGetPriority)            \
  X(cudaStreamGetFlags)               \
  X(cudaStreamGetDevice)              \
  X(cudaStreamIsCapturing)            \
  X(cudaLaunchHostFunc)               \
  /* Events */                        \
  X(cudaEventCreateWithFlags)         \
  X(cudaEventRecord)                  \
  X(cudaEventQuery)                   \
  X(cudaEventSynchronize)             \
  X(cudaEventElapsedTime)             \
  X(cudaEventDestroy)                 \
  /* Memory */                        \
  X(cudaMalloc)                       \
  X(cudaFree)                         \
  X(cudaHostAlloc)                    \
  X(cudaFreeHost)                     \
  X(cudaHostRegister)                 \
  X(cudaHostUnregister)               \
  X(cudaMemGetInfo)                   \
  X(cudaMemcpy)                       \
  X(cudaMemcpyAsync)                  \
  X(cudaMemcpyPeerAsync)              \
  X(cudaMemcpy2DAsync)                \
  X(cudaMemset)                       \
  X(cudaMemsetAsync)                  \
  X(cudaPointerGetAttributes)         \
  /* Execution */                     \
  X(cudaLaunchKernel)                 \
  X(cudaFuncGetAttributes)            \
  X(cudaFuncSetAttribute)             \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)

// What nvcc's generated host code calls directly (not in a public header, so
// declared in table.h): the CUDA kernel library forwards these here.
#define ANVIL_FOR_EACH_COMPILER_ENTRY_POINT(X) \
  X(__cudaRegisterFatBinary)                   \
  X(__cudaRegisterFatBinaryEnd)                \
  X(__cudaUnregisterFatBinary)                 \
  X(__cudaRegisterFunction)                    \
  X(__cudaRegisterVar)                         \
  X(__cudaInitModule)                          \
  X(__cudaPushCallConfiguration)               \
  X(__cudaPopCallConfiguration)                \
  X(__cudaGetKernel)                           \
  X(__cudaLaunchKernel)
