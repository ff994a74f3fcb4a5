// The one place where device addresses become the addresses that kernels use.
#pragma once

#include <cstddef>
#include <type_traits>

#include "aten_ops/kernels/macros.h"

namespace anvil::kernels {

// What kernels may dereference for `pointer`. On CUDA: `pointer`. On the
// simulator: device addresses are shifted to the kernel view, null and pinned
// host addresses are not; any other address throws runtime::Error. Host only;
// for the table's part of a library it is defined once, in pointer.cpp.
void* kernel_address(const void* pointer);

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
