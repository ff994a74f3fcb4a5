#include "aten_ops/KernelLibrary.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <string>

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

const Table* load() {
  const bool cuda = runtime::driver() == runtime::Driver::kCuda;
  const std::string name = cuda ? "libanvil_kernels_cuda.so" : "libanvil_kernels_host.so";
  TORCH_CHECK(
      cuda || __builtin_cpu_supports(ANVIL_CPU_LEVEL),
      "Anvil's kernels for the simulator were built for processors of the level " ANVIL_CPU_LEVEL
      ", which this one does not reach; build with "
      "-DANVIL_CPU_LEVEL=x86-64-v3");
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
