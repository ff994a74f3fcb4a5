#include "test/runtime/kernels_cuda.h"

#include <dlfcn.h>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

// Threads of the block take every ntid.x-th element; `fail` traps; `wild`
// stores a terabyte behind its allocation.
constexpr char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry add(.param .u64 data, .param .s32 n, .param .f32 value)
{
  .reg .pred %done;
  .reg .b32 %i, %count, %step;
  .reg .f32 %x, %v;
  .reg .b64 %base, %offset, %address;
  ld.param.u64 %base, [data];
  ld.param.s32 %count, [n];
  ld.param.f32 %v, [value];
  mov.u32 %i, %tid.x;
  mov.u32 %step, %ntid.x;
LOOP:
  setp.ge.s32 %done, %i, %count;
  @%done bra END;
  mul.wide.s32 %offset, %i, 4;
  add.s64 %address, %base, %offset;
  ld.global.f32 %x, [%address];
  add.f32 %x, %x, %v;
  st.global.f32 [%address], %x;
  add.s32 %i, %i, %step;
  bra LOOP;
END:
  ret;
}

.visible .entry fail()
{
  trap;
}

.visible .entry wild(.param .u64 data)
{
  .reg .b64 %address;
  .reg .f32 %x;
  ld.param.u64 %address, [data];
  add.s64 %address, %address, 1099511627776;
  mov.f32 %x, 0f3f800000;
  st.global.f32 [%address], %x;
  ret;
}
)";

// Not in the table, because nothing but these tests calls it.
template <class Function>
Function from_libcudart(const char* name) {
  void* library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function>(library != nullptr ? dlsym(library, name) : nullptr);
}

cudaLibrary_t load() {
  cudaLibrary_t library = nullptr;
  const auto load = from_libcudart<decltype(&::cudaLibraryLoadData)>("cudaLibraryLoadData");
  EXPECT_NE(load, nullptr);
  if (load != nullptr) {
    EXPECT_SUCCESS(load(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  return library;
}

}  // namespace

const void* cuda_kernel(const char* name) {
  static const cudaLibrary_t library = load();
  cudaKernel_t kernel = nullptr;
  if (const auto get = from_libcudart<decltype(&::cudaLibraryGetKernel)>("cudaLibraryGetKernel")) {
    EXPECT_SUCCESS(get(&kernel, library, name));
  }
  return kernel;
}

}  // namespace anvil::runtime::testing
