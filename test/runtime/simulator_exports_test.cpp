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

// cudaGetErrorString and cudaGetErrorName need no driver.
TEST(SimulatorExports, ErrorsHaveCudasNamesAndTexts) {
  void* real = dlopen(ANVIL_TEST_LIBCUDART, RTLD_NOW | RTLD_LOCAL);
  if (real == nullptr) {
    GTEST_SKIP() << "no libcudart.so.13 beside the CUDA headers";
  }
  for (const char* function : {"cudaGetErrorName", "cudaGetErrorString"}) {
    using Text = const char* (*)(int);
    const auto expected = reinterpret_cast<Text>(dlsym(real, function));
    const auto ours = reinterpret_cast<Text>(dlsym(simulator(), function));
    for (int code = 0; code < 1100; ++code) {
      EXPECT_STREQ(ours(code), expected(code)) << code;
    }
  }
}

TEST(SimulatorExports, WhatItDoesNotHaveIsRefusedByName) {
  setenv("ANVIL_DRIVER", "simulator", 1);
  expect_in_new_process(
      [&] {
        const auto call = reinterpret_cast<cudaError_t (*)(void**, size_t*, size_t, size_t)>(
            dlsym(simulator(), "cudaMallocPitch"));
        void* pointer = nullptr;
        size_t pitch = 0;
        EXPECT_CUDA(cudaErrorNotSupported, call(&pointer, &pitch, 16, 1));
        EXPECT_CUDA(cudaErrorNotSupported, cuda().cudaGetLastError());
      },
      "anvil simulator: cudaMallocPitch is not supported");
}

// Also where it was built with the headers of CUDA 13.0, which lack them.
TEST(SimulatorExports, NamesTheErrorsOfCuda13) {
  const auto name = reinterpret_cast<const char* (*)(int)>(dlsym(simulator(), "cudaGetErrorName"));
  EXPECT_STREQ("cudaErrorVersionTranslation", name(10));
  EXPECT_STREQ("cudaErrorStreamDetached", name(917));
}

TEST(SimulatorExports, DeviceOfABusId) {
  const auto find = reinterpret_cast<cudaError_t (*)(int*, const char*)>(
      dlsym(simulator(), "cudaDeviceGetByPCIBusId"));
  setenv("ANVIL_DRIVER", "simulator", 1);
  char text[32] = "";
  ASSERT_SUCCESS(cuda().cudaDeviceGetPCIBusId(text, sizeof(text), 1));
  int device = -1;
  EXPECT_SUCCESS(find(&device, text));
  EXPECT_EQ(1, device);
  EXPECT_SUCCESS(find(&device, "0000:01:00"));
  EXPECT_EQ(0, device);
  for (const char* none : {"0000:00:00.0", "0000:7f:00.0", "0000:ffffffff:00.0", "0001:01:00.0"}) {
    EXPECT_CUDA(cudaErrorInvalidDevice, find(&device, none)) << none;
  }
  for (const char* bad : {"", "0000", "0000:01", "0000:01:", "0000:01:00.", "0000:100000001:00",
                          "0000:01:00.0 ", "0000:01:0z", "-1:01:00"}) {
    EXPECT_CUDA(cudaErrorInvalidValue, find(&device, bad)) << bad;
  }
  EXPECT_EQ(0, device);
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
