#include "aten_ops/KernelLibrary.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/table.h"

namespace anvil::kernels {
namespace {

// The folder that holds this library, with a trailing slash.
std::string own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.find_last_of('/') + 1);
}

// The level of the x86-64 psABI that this processor reaches, as far as kernels
// are built for it; ANVIL_CPU_LEVEL in the environment lowers it.
std::string_view processor_level() {
  static constexpr std::string_view kLevels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  int level = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    level = 1;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      level = 2;
    }
  }
  const char* wanted = std::getenv("ANVIL_CPU_LEVEL");
  if (wanted != nullptr && *wanted != '\0') {
    int lowered = 0;
    while (lowered < 3 && kLevels[lowered] != wanted) {
      ++lowered;
    }
    TORCH_CHECK(lowered < 3, "ANVIL_CPU_LEVEL=", wanted,
                " is not known; use x86-64-v2, x86-64-v3 or x86-64-v4");
    level = std::min(level, lowered);
  }
  return kLevels[level];
}

// The fastest of the libraries that were built and that this processor runs.
std::string host_library() {
  const std::string_view level = processor_level();
  if (level >= ANVIL_CPU_LEVEL) {
    return "libanvil_kernels_host.so";
  }
  const std::string fallback = "libanvil_kernels_host_v3.so";
  TORCH_CHECK(level >= "x86-64-v3" && access((own_folder() + fallback).c_str(), R_OK) == 0,
              "Anvil's kernels for the simulator were built for processors of the level ",
              ANVIL_CPU_LEVEL, ", this one has ", level,
              ". Build for it with -DANVIL_CPU_LEVEL=x86-64-v3, the lowest level there is, or "
              "for both with -DANVIL_CPU_FALLBACK=ON.");
  return fallback;
}

const Table* load() {
  const bool cuda = runtime::driver() == runtime::Driver::kCuda;
  const std::string name = cuda ? "libanvil_kernels_cuda.so" : host_library();
  void* library = dlopen((own_folder() + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    TORCH_CHECK(false, "Anvil's kernels for the ", runtime::driver_name(),
                " did not load: ", why ? why : "unknown reason",
                cuda ? ". Build them with -DANVIL_BUILD_CUDA=ON (needs nvcc), or set "
                       "ANVIL_DRIVER=simulator."
                     : ". Build the target anvil_kernels_host.");
  }
  auto accessor = reinterpret_cast<TableAccessor>(dlsym(library, kTableAccessor));
  TORCH_CHECK(accessor != nullptr, name, " has no function ", kTableAccessor,
              "; it is no kernel library of Anvil");
  const Table* table = accessor(sizeof(Table));
  TORCH_CHECK(table != nullptr, name,
              " was built from other sources than libanvil.so; build both again");
  return table;
}

}  // namespace

const Table& table() {
  static const Table& loaded = *load();
  return loaded;
}

}  // namespace anvil::kernels
