// What the compiler calls in code that was compiled with -fsanitize=thread: these
// functions instead of ThreadSanitizer's library, which is not linked. See
// gcc/sanitizer.def for their names. Outside of kernels they do nothing.
#include <cstddef>
#include <cstring>

#include "test/simt_checker/machine.h"

namespace {

inline void access(
    const void* address, size_t bytes, bool is_write, size_t alignment, const void* pc) {
  using anvil::simt_checker::Machine;
  if (Machine::running() != nullptr) {
    Machine::Pause()->access(address, bytes, is_write, alignment, pc);
  }
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ANVIL_ACCESS(bytes)                                      \
  void __tsan_read##bytes(void* p) {                             \
    access(p, bytes, false, bytes, __builtin_return_address(0)); \
  }                                                              \
  void __tsan_write##bytes(void* p) {                            \
    access(p, bytes, true, bytes, __builtin_return_address(0));  \
  }                                                              \
  void __tsan_volatile_read##bytes(void* p) {                    \
    access(p, bytes, false, bytes, __builtin_return_address(0)); \
  }                                                              \
  void __tsan_volatile_write##bytes(void* p) {                   \
    access(p, bytes, true, bytes, __builtin_return_address(0));  \
  }
#define ANVIL_UNALIGNED_ACCESS(bytes)                        \
  void __tsan_unaligned_read##bytes(void* p) {               \
    access(p, bytes, false, 1, __builtin_return_address(0)); \
  }                                                          \
  void __tsan_unaligned_write##bytes(void* p) {              \
    access(p, bytes, true, 1, __builtin_return_address(0));  \
  }
ANVIL_ACCESS(1)
ANVIL_ACCESS(2)
ANVIL_ACCESS(4)
ANVIL_ACCESS(8)
ANVIL_ACCESS(16)
ANVIL_UNALIGNED_ACCESS(2)
ANVIL_UNALIGNED_ACCESS(4)
ANVIL_UNALIGNED_ACCESS(8)
ANVIL_UNALIGNED_ACCESS(16)
#undef ANVIL_ACCESS
#undef ANVIL_UNALIGNED_ACCESS

void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* p, size_t bytes) {
  access(p, bytes, false, 1, __builtin_return_address(0));
}
void __tsan_write_range(void* p, size_t bytes) {
  access(p, bytes, true, 1, __builtin_return_address(0));
}

// Calls that the compiler leaves as they are; the linker sends them here
// (--wrap, see CMakeLists.txt).
void* __real_memcpy(void*, const void*, size_t);
void* __real_memmove(void*, const void*, size_t);
void* __real_memset(void*, int, size_t);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  access(from, bytes, false, 1, __builtin_return_address(0));
  access(to, bytes, true, 1, __builtin_return_address(0));
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  access(from, bytes, false, 1, __builtin_return_address(0));
  access(to, bytes, true, 1, __builtin_return_address(0));
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, size_t bytes) {
  access(to, bytes, true, 1, __builtin_return_address(0));
  return __real_memset(to, value, bytes);
}
}
