// What nvcc's host code and the launches of launch_cuda.h call, by way of the
// table: so this library links no CUDA runtime and serves either driver. Hidden
// (exports.map): to the rest of the process libcudart's names mean libcudart's.
#include "runtime/table.h"

using anvil::runtime::table;

extern "C" {

void** __cudaRegisterFatBinary(void* fat_binary) {
  return table().__cudaRegisterFatBinary(fat_binary);
}

void __cudaRegisterFatBinaryEnd(void** handle) { table().__cudaRegisterFatBinaryEnd(handle); }

void __cudaUnregisterFatBinary(void** handle) { table().__cudaUnregisterFatBinary(handle); }

void __cudaRegisterFunction(void** handle,
                            const char* host_function,
                            char* device_function,
                            const char* device_name,
                            int thread_limit,
                            uint3* thread_id,
                            uint3* block_id,
                            dim3* block,
                            dim3* grid,
                            int* warp_size) {
  table().__cudaRegisterFunction(handle, host_function, device_function, device_name, thread_limit,
                                 thread_id, block_id, block, grid, warp_size);
}

void __cudaRegisterVar(void** handle,
                       char* host_variable,
                       char* device_address,
                       const char* device_name,
                       int external,
                       size_t size,
                       int constant,
                       int global) {
  table().__cudaRegisterVar(handle, host_variable, device_address, device_name, external, size,
                            constant, global);
}

char __cudaInitModule(void** handle) { return table().__cudaInitModule(handle); }

unsigned __cudaPushCallConfiguration(dim3 grid,
                                     dim3 block,
                                     size_t shared_bytes,
                                     cudaStream_t stream) {
  return table().__cudaPushCallConfiguration(grid, block, shared_bytes, stream);
}

cudaError_t __cudaPopCallConfiguration(dim3* grid,
                                       dim3* block,
                                       size_t* shared_bytes,
                                       void* stream) {
  return table().__cudaPopCallConfiguration(grid, block, shared_bytes, stream);
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return table().__cudaGetKernel(kernel, host_function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel,
                               dim3 grid,
                               dim3 block,
                               void** arguments,
                               size_t shared_bytes,
                               cudaStream_t stream) {
  return table().__cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return table().cudaFuncSetAttribute(function, attribute, value);
}

cudaError_t cudaGetLastError() { return table().cudaGetLastError(); }

cudaError_t cudaLaunchKernel(const void* function,
                             dim3 grid,
                             dim3 block,
                             void** arguments,
                             size_t shared_bytes,
                             cudaStream_t stream) {
  return table().cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}
}
