// The table: which library it takes, and what it says if it cannot.
#include "runtime/table.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/error.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

namespace fs = std::filesystem;

// A folder that is gone at the end of the scope.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "anvil-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The message of the Error that loading throws; empty if it loads.
std::string load_error() {
  try {
    table();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text) << "\nlacks: " << (part)

TEST(Table, SimulatorByName) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_DRIVER", "simulator", 1);
        EXPECT_FALSE(loaded());
        EXPECT_EQ(load_error(), "");
        EXPECT_TRUE(loaded());
        EXPECT_EQ(driver(), Driver::kSimulator);
        EXPECT_STREQ(driver_name(), "simulator");
        EXPECT_NE(table().anvilSimulatorDrain, nullptr);
      },
      "");
}

TEST(Table, UnknownDriverNamesTheAllowedOnes) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_DRIVER", "opencl", 1);
        const std::string error = load_error();
        EXPECT_CONTAINS(error, "ANVIL_DRIVER=opencl");
        EXPECT_CONTAINS(error, "auto, cuda or simulator");
        EXPECT_FALSE(loaded());
        // The value can be corrected, because nothing was kept.
        setenv("ANVIL_DRIVER", "simulator", 1);
        EXPECT_EQ(load_error(), "");
      },
      "");
}

// The library of libcudart's name that the tests bring has no device and lacks
// functions; it is found through LD_LIBRARY_PATH of the new process.
class TableWithFakeCuda : public ::testing::Test {
 protected:
  static void use(const std::string& folder) { setenv("LD_LIBRARY_PATH", folder.c_str(), 1); }
};

TEST_F(TableWithFakeCuda, AutoTakesTheSimulatorIfCudaHasNoDevice) {
  use(ANVIL_TEST_FAKE_CUDART_FOLDER);
  setenv("ANVIL_DRIVER", "auto", 1);
  expect_in_new_process(
      [&] {
        EXPECT_EQ(load_error(), "");
        EXPECT_EQ(driver(), Driver::kSimulator);
      },
      "");
}

TEST_F(TableWithFakeCuda, AMissingFunctionIsNamed) {
  use(ANVIL_TEST_FAKE_CUDART_FOLDER);
  setenv("ANVIL_DRIVER", "cuda", 1);
  expect_in_new_process(
      [&] {
        const std::string error = load_error();
        EXPECT_CONTAINS(error, "libcudart.so.13 has no function cuda");
        EXPECT_CONTAINS(error, "version 13");
      },
      "");
}

TEST_F(TableWithFakeCuda, ACudaRuntimeThatDoesNotLoadIsAnErrorThatSaysWhatToDo) {
  const Folder folder;
  std::ofstream(folder.path() / "libcudart.so.13") << "no library";
  use(folder.path());
  setenv("ANVIL_DRIVER", "cuda", 1);
  expect_in_new_process(
      [&] {
        const std::string error = load_error();
        EXPECT_CONTAINS(error, "ANVIL_DRIVER=cuda");
        EXPECT_CONTAINS(error, "pip install nvidia-cuda-runtime");
      },
      "");
}

// A copy of the runtime library that has no simulator beside it.
TEST(Table, AMissingSimulatorIsAnError) {
  const Folder folder;
  Dl_info info{};
  ASSERT_NE(0, dladdr(reinterpret_cast<void*>(&table), &info));
  const fs::path copy = folder.path() / "libanvil_runtime_alone.so";
  fs::copy_file(info.dli_fname, copy);
  setenv("ANVIL_DRIVER", "simulator", 1);
  void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto load =
      reinterpret_cast<const char* (*)()>(dlsym(library, "_ZN5anvil7runtime11driver_nameEv"));
  ASSERT_NE(load, nullptr);
  try {
    load();
    FAIL() << "loaded without a simulator";
  } catch (const std::exception& error) {
    EXPECT_CONTAINS(std::string(error.what()), "the simulator did not load");
    EXPECT_CONTAINS(std::string(error.what()), "libanvil_simulator.so");
  }
}

}  // namespace
}  // namespace anvil::runtime::testing
