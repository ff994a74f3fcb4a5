// The one place where device addresses become the addresses that kernels use.
#pragma once

#include <cstddef>
#include <type_traits>

#include "aten_ops/kernels/macros.h"
#include "runtime/simulator/extension.h"

namespace anvil::kernels {

#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
inline void* kernel_address(const void* pointer) { return const_cast<void*>(pointer); }
#else
// The simulator's device addresses; set when the library loads (pointer.cpp).
extern const anvilDeviceRange device_range;

// kernel_address for what is no device address: null and pinned host pointers
// are returned unchanged, any other throws runtime::Error.
void* host_kernel_address(const void* pointer);

// What kernels may dereference for `pointer`. On CUDA: `pointer`. On the
// simulator: device addresses are shifted to the kernel view, null and pinned
// host addresses are not; any other address throws runtime::Error. Host only.
inline void* kernel_address(const void* pointer) {
  const char* address = static_cast<const char*>(pointer);
  if (address >= device_range.begin && address < device_range.end) [[likely]] {
    return const_cast<char*>(address + device_range.distance);
  }
  return host_kernel_address(pointer);
}
#endif

// A kernel's pointer into device memory: translated when the host builds the
// kernel's arguments, a plain pointer after that. Kernel functors hold their
// pointers as this type and never as T*.
template <class T>
class Pointer {
 public:
  Pointer() = default;
  // Host code: translates.
  Pointer(T* pointer) : pointer_(static_cast<T*>(kernel_address(pointer))) {}
  Pointer(std::nullptr_t) {}

  ANVIL_DEVICE operator T*() const { return pointer_; }
  ANVIL_DEVICE T* get() const { return pointer_; }

 private:
  T* pointer_ = nullptr;
};

}  // namespace anvil::kernels
