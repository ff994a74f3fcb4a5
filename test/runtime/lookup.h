// Functions that the tests need and Anvil does not call, so that they are not in
// the table: found by name in the runtime library that is behind it.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {

inline void* find_in_runtime(const char* name) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(cuda().cudaMalloc), &info);
  void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  return library != nullptr ? dlsym(library, name) : nullptr;
}

// The first member of a fixture whose members make streams and memory: they are
// made before SetUp.
struct OnFirstDevice {
  OnFirstDevice() { cuda().cudaSetDevice(0); }
};

// cuda_function<decltype(&cudaFoo)>("cudaFoo"), of the runtime API.
template <class Function>
Function cuda_function(const char* name) {
  const auto function = reinterpret_cast<Function>(find_in_runtime(name));
  if (function == nullptr) {
    ADD_FAILURE() << "the CUDA runtime has no " << name;
  }
  return function;
}
#define RUNTIME(name) (::anvil::runtime::testing::cuda_function<decltype(&::name)>(#name))

// The same for the driver API, as programs on the runtime API find it.
template <class Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  EXPECT_SUCCESS(RUNTIME(cudaGetDriverEntryPointByVersion)(name, &function, 12000,
                                                           cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSuccess) << name;
  return reinterpret_cast<Function>(function);
}
#define DRIVER(name) (::anvil::runtime::testing::driver_function<decltype(&::name)>(#name))

// Errors of both APIs have the same numbers; so have their names' meanings.
inline const char* name(CUresult code) { return name(static_cast<cudaError_t>(code)); }

}  // namespace anvil::runtime::testing
