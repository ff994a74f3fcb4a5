// The simulator exports all that libcudart does, so that no call of a program
// that has both falls through to the real one.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

std::string folder_of_runtime() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&table), &info);
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1);
}

void* simulator() {
  return dlopen((folder_of_runtime() + "libanvil_simulator.so").c_str(), RTLD_NOW);
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[512];
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    lines.emplace_back(line);
    lines.back().pop_back();
  }
  return lines;
}

// "00000000000151a0 T cudaMalloc@@libcudart.so.13"
std::string symbol_of(const std::string& line) {
  const std::string symbol = line.substr(line.find_last_of(' ') + 1);
  return symbol.substr(0, symbol.find('@'));
}

TEST(SimulatorExports, EverythingThatLibcudartExports) {
  const std::vector<std::string> lines =
      lines_of("nm -D --defined-only '" ANVIL_TEST_LIBCUDART "' 2>/dev/null");
  if (lines.empty()) {
    GTEST_SKIP() << "no libcudart.so.13 beside the CUDA headers, or no nm";
  }
  void* library = simulator();
  ASSERT_NE(library, nullptr) << dlerror();
  size_t functions = 0;
  for (const std::string& line : lines) {
    const std::string symbol = symbol_of(line);
    if (line.find(" T ") == line.npos || symbol.find("cuda") == symbol.npos) {
      continue;  // the version's own symbol
    }
    ++functions;
    EXPECT_NE(dlsym(library, symbol.c_str()), nullptr) << symbol;
  }
  EXPECT_GT(functions, 400u);
}

TEST(SimulatorExports, WhatItDoesNotHaveIsRefusedByName) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  expect_in_new_process(
      [&] {
        const auto call = reinterpret_cast<cudaError_t (*)(void**, size_t, unsigned)>(
            dlsym(simulator(), "cudaMallocManaged"));
        void* pointer = nullptr;
        EXPECT_CUDA(cudaErrorNotSupported, call(&pointer, 16, 1));
        EXPECT_CUDA(cudaErrorNotSupported, cuda().cudaGetLastError());
      },
      "anvil simulator: cudaMallocManaged is not supported");
}

TEST(SimulatorExports, ThePerThreadDefaultStreamIsRefusedByName) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  expect_in_new_process(
      [&] {
        EXPECT_CUDA(cudaErrorInvalidResourceHandle,
                    cuda().cudaStreamSynchronize(cudaStreamPerThread));
      },
      "cudaStreamPerThread is not supported");
}

}  // namespace
}  // namespace anvil::runtime::testing
