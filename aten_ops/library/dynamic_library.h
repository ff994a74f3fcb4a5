// Vendor libraries that are found at run time.
#pragma once

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <string>

namespace anvil::library {

// Opens `name` for our use alone; torch's CUDA builds have it loaded already.
// Throws with the package that brings it. The library is never closed.
inline void* open_library(const char* name, const char* package) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    TORCH_CHECK(false, name, " did not load (", why ? why : "unknown reason",
                "); install it with: pip install ", package);
  }
  return library;
}

// The path of a library that lies beside this one.
inline std::string path_beside(const char* name) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&open_library), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.find_last_of('/') + 1) + name;
}

inline void* find_symbol(void* library, const char* library_name, const char* name) {
  void* symbol = dlsym(library, name);
  TORCH_CHECK(symbol != nullptr, library_name, " has no function ", name,
              "; it is older than the headers that Anvil was built with");
  return symbol;
}

}  // namespace anvil::library
