// Vendor libraries that are found at run time.
#pragma once

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <string>

namespace anvil::library {

struct Library {
  void* handle;
  std::string name;  // for errors
};

// Opens `name` for our use alone; torch's CUDA builds have it loaded already.
// Throws with the package that brings it. The library is never closed.
inline Library open_library(const std::string& name, const char* package) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    TORCH_CHECK(false, name, " did not load (", why ? why : "unknown reason",
                "); install it with: pip install ", package);
  }
  return {handle, name};
}

// The path of a library that lies beside this one.
inline std::string path_beside(const char* name) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&open_library), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.find_last_of('/') + 1) + name;
}

inline void* find_symbol(const Library& library, const char* name) {
  void* symbol = dlsym(library.handle, name);
  TORCH_CHECK(symbol != nullptr, library.name, " has no function ", name,
              "; it is older than the headers that Anvil was built with");
  return symbol;
}

}  // namespace anvil::library

// A vendor library's functions as members of one struct, from the list that the
// header of the library makes:
//
//   #define ANVIL_FOR_EACH_FOO_FUNCTION(X) X(fooCreate) X(fooDestroy)
//   ANVIL_LIBRARY_TABLE(Foo, foo, ANVIL_FOR_EACH_FOO_FUNCTION, open_library("libfoo.so.1", "foo"))
//
// foo() opens the library at its first call; the table is complete or absent: the
// first missing name throws.
#define ANVIL_LIBRARY_MEMBER(name) decltype(&::name) name;
#define ANVIL_LIBRARY_FIND(name) \
  result.name = reinterpret_cast<decltype(result.name)>(find_symbol(library, #name));
#define ANVIL_LIBRARY_TABLE(Type, accessor, FOR_EACH, open) \
  struct Type {                                             \
    FOR_EACH(ANVIL_LIBRARY_MEMBER)                          \
  };                                                        \
  inline const Type& accessor() {                           \
    static const Type table = [] {                          \
      const Library library = open;                         \
      Type result{};                                        \
      FOR_EACH(ANVIL_LIBRARY_FIND)                          \
      return result;                                        \
    }();                                                    \
    return table;                                           \
  }
