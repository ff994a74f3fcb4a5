#include "runtime/table.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "runtime/error.h"
#include "runtime/trace.h"

namespace anvil::runtime {
namespace {

struct Loaded {
  Table table{};
  Driver driver{};
};

std::atomic<bool> is_loaded{false};

// The folder that holds this library, with a trailing slash.
std::string own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_folder), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.find_last_of('/') + 1);
}

void* find(void* library, const char* name, const std::string& origin) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw Error("the CUDA runtime " + origin + " has no function " + name +
                "; Anvil needs version 13 of the CUDA runtime");
  }
  return symbol;
}

Table fill(void* library, const std::string& origin, Driver driver) {
  Table table{};
#define ANVIL_FIND(name) \
  table.name = reinterpret_cast<decltype(table.name)>(find(library, #name, origin));
  ANVIL_FOR_EACH_ENTRY_POINT(ANVIL_FIND)
  ANVIL_FOR_EACH_COMPILER_ENTRY_POINT(ANVIL_FIND)
  if (driver == Driver::kSimulator) {
    ANVIL_FIND(anvilSimulatorRegisterKernel)
    ANVIL_FIND(anvilSimulatorKernelAddress)
    ANVIL_FIND(anvilSimulatorDeviceRange)
    ANVIL_FIND(anvilSimulatorInsideStream)
    ANVIL_FIND(anvilSimulatorDrain)
  }
#undef ANVIL_FIND
  return table;
}

// Opens `name` for our use alone: the symbols stay out of the global scope.
void* open(const std::string& name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }

// libcudart: the one that the process already has (torch's), or the loader's.
void* open_cuda() { return open("libcudart.so.13"); }

Loaded load_simulator() {
  const std::string path = own_folder() + "libanvil_simulator.so";
  void* library = open(path);
  if (library == nullptr) {
    const char* why = dlerror();
    throw Error(std::string("the simulator did not load: ") + (why ? why : "unknown reason"));
  }
  return {fill(library, "libanvil_simulator.so", Driver::kSimulator), Driver::kSimulator};
}

Loaded load_cuda() {
  void* library = open_cuda();
  if (library == nullptr) {
    const char* why = dlerror();
    throw Error(std::string("ANVIL_DRIVER=cuda, but the CUDA runtime did not load: ") +
                (why ? why : "unknown reason") +
                "; install it with: pip install nvidia-cuda-runtime");
  }
  return {fill(library, "libcudart.so.13", Driver::kCuda), Driver::kCuda};
}

// A runtime without a driver or a device answers cudaGetDeviceCount with an
// error; that is the only call made before the choice.
bool cuda_device_answers() {
  void* library = open_cuda();
  if (library == nullptr) {
    return false;
  }
  auto count =
      reinterpret_cast<decltype(&::cudaGetDeviceCount)>(dlsym(library, "cudaGetDeviceCount"));
  int devices = 0;
  return count != nullptr && count(&devices) == cudaSuccess && devices > 0;
}

Loaded load() {
  const char* value = std::getenv("ANVIL_DRIVER");
  const std::string choice = value && *value ? value : "auto";
  if (choice == "simulator") {
    return load_simulator();
  }
  if (choice == "cuda") {
    return load_cuda();
  }
  if (choice != "auto") {
    throw Error("ANVIL_DRIVER=" + choice + " is not known; use auto, cuda or simulator");
  }
  return cuda_device_answers() ? load_cuda() : load_simulator();
}

const Loaded& instance() {
  // Never destroyed: work may still be queued when statics end.
  static const Loaded* loaded = [] {
    auto* result = new Loaded(load());
    if (tracing()) {
      result->table = traced(result->table);
    }
    is_loaded.store(true, std::memory_order_release);
    return result;
  }();
  return *loaded;
}

}  // namespace

const Table& table() { return instance().table; }
Driver driver() { return instance().driver; }
const char* driver_name() { return driver() == Driver::kCuda ? "CUDA" : "simulator"; }
bool loaded() noexcept { return is_loaded.load(std::memory_order_acquire); }

}  // namespace anvil::runtime
