// ANVIL_TRACE: every call through the table becomes a line of the file.
#include "runtime/trace.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

// A path for a file that is removed at the end of the scope.
class TracePath {
 public:
  TracePath() {
    std::string name = std::filesystem::temp_directory_path() / "anvil-trace-XXXXXX";
    close(mkstemp(name.data()));
    path_ = name;
  }
  ~TracePath() { std::filesystem::remove(path_); }
  const std::string& get() const { return path_; }

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) {
      result.push_back(line);
    }
    return result;
  }
  // The first line of a call of `name`; empty if there is none.
  std::string event(const std::string& name) const {
    for (const std::string& line : lines()) {
      if (line.find("\"name\":\"" + name + "\"") != std::string::npos) {
        return line;
      }
    }
    return "";
  }

 private:
  std::string path_;
};

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text) << "\nlacks: " << (part)

TEST(Trace, EveryCallIsALineWithBytesStreamDeviceAndResult) {
  expect_in_new_process(
      [] {
        const TracePath path;
        setenv("ANVIL_TRACE", path.get().c_str(), 1);
        ASSERT_TRUE(tracing());
        const TestStream stream;
        const DeviceArray<char> memory(4096);
        const cudaStream_t handle = stream;
        EXPECT_SUCCESS(cuda().cudaMemsetAsync(memory.get(), 0, 512, handle));
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(handle));

        const std::string allocation = path.event("cudaMalloc");
        EXPECT_CONTAINS(allocation, "\"bytes\":4096");
        EXPECT_CONTAINS(allocation, "\"device\":0");
        EXPECT_CONTAINS(allocation, "\"created\":\"0x");
        EXPECT_CONTAINS(allocation, "\"result\":\"cudaSuccess\"");
        const std::string fill = path.event("cudaMemsetAsync");
        EXPECT_CONTAINS(fill, "\"bytes\":512");
        EXPECT_CONTAINS(fill, "\"stream\":\"0x");
        EXPECT_NE(path.event("cudaStreamSynchronize"), "");
        EXPECT_EQ(path.event("cudaMemcpyAsync"), "");
      },
      "");
}

TEST(Trace, AnErrorIsNamedAndStaysTheCallersError) {
  expect_in_new_process(
      [] {
        const TracePath path;
        setenv("ANVIL_TRACE", path.get().c_str(), 1);
        EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaSetDevice(1000));
        EXPECT_CUDA(cudaErrorInvalidDevice, cuda().cudaGetLastError());
        EXPECT_CONTAINS(path.event("cudaSetDevice"), "\"result\":\"cudaErrorInvalidDevice\"");
        // A refused device is not the thread's device.
        EXPECT_CONTAINS(path.event("cudaGetLastError"), "\"device\":0");
      },
      "");
}

TEST(Trace, OutermostAndInnermostOperatorStandInTheEvent) {
  expect_in_new_process(
      [] {
        const TracePath path;
        setenv("ANVIL_TRACE", path.get().c_str(), 1);
        enter_operator("aten::outer");
        enter_operator("aten::\"inner\"");
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        leave_operator();
        leave_operator();
        leave_operator();  // one too many does nothing
        EXPECT_SUCCESS(cuda().cudaSetDevice(0));
        const std::string inside = path.event("cudaDeviceSynchronize");
        EXPECT_CONTAINS(inside, "\"operator\":\"aten::outer\"");
        EXPECT_CONTAINS(inside, "\"inner_operator\":\"aten::\\\"inner\\\"\"");
        EXPECT_EQ(path.event("cudaSetDevice").find("operator"), std::string::npos);
      },
      "");
}

TEST(Trace, AFileThatCannotBeWrittenIsNamed) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_TRACE", "/nowhere/at/all.json", 1);
        try {
          table();
          ADD_FAILURE() << "no error";
        } catch (const Error& error) {
          const std::string message = error.what();
          EXPECT_CONTAINS(message, "ANVIL_TRACE=/nowhere/at/all.json cannot be written");
          EXPECT_CONTAINS(message, "No such file or directory");
        }
      },
      "");
}

TEST(Trace, OffTheTableHoldsTheDriversOwnFunctions) {
  expect_in_new_process(
      [] {
        unsetenv("ANVIL_TRACE");
        EXPECT_FALSE(tracing());
        const auto library_of = [](auto* function) {
          Dl_info info{};
          EXPECT_NE(dladdr(reinterpret_cast<void*>(function), &info), 0);
          return std::filesystem::path(info.dli_fname).filename().string();
        };
        EXPECT_EQ(library_of(table().cudaMalloc),
                  driver() == Driver::kSimulator ? "libanvil_simulator.so" : "libcudart.so.13");
      },
      "");
}

}  // namespace
}  // namespace anvil::runtime::testing
