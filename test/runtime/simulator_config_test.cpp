// The simulator's environment variables. Each test has a process of its own.
#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class SimulatorConfig : public ::testing::Test {
 protected:
  SimulatorConfig() { setenv("ANVIL_DRIVER", "simulator", 1); }

  // Expects that `variable`=`value` is refused, by name, in the error's text and
  // on stderr.
  static void expect_refused(const char* variable, const char* value, const char* allowed) {
    expect_in_new_process(
        [&] {
          setenv(variable, value, 1);
          int count = 0;
          EXPECT_CUDA(cudaErrorInitializationError, cuda().cudaGetDeviceCount(&count));
          void* pointer = nullptr;
          EXPECT_CUDA(cudaErrorInitializationError, cuda().cudaMalloc(&pointer, 16));
          const std::string text = cuda().cudaGetErrorString(cudaErrorInitializationError);
          EXPECT_NE(text.find(std::string(variable) + "=" + value), text.npos) << text;
          EXPECT_NE(text.find(allowed), text.npos) << text;
        },
        std::string("anvil simulator: ") + variable);
  }

  static cudaDeviceProp properties() {
    cudaDeviceProp properties{};
    EXPECT_SUCCESS(cuda().cudaGetDeviceProperties(&properties, 0));
    return properties;
  }
};

TEST_F(SimulatorConfig, TwoDevicesOfTheH100ByDefault) {
  expect_in_new_process(
      [&] {
        int count = 0;
        EXPECT_SUCCESS(cuda().cudaGetDeviceCount(&count));
        EXPECT_EQ(count, 2);
        EXPECT_EQ(properties().major, 9);
        EXPECT_EQ(properties().minor, 0);
        EXPECT_EQ(properties().multiProcessorCount, 132);
        EXPECT_EQ(properties().maxThreadsPerMultiProcessor, 2048);
        EXPECT_NE(std::string(properties().name).find("H100"), std::string::npos);
      },
      "");
}

TEST_F(SimulatorConfig, ProfilesAreChosenByName) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_PROFILE", "a100", 1);
        EXPECT_EQ(properties().major, 8);
        EXPECT_EQ(properties().multiProcessorCount, 108);
      },
      "");
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_PROFILE", "tiny", 1);
        EXPECT_EQ(properties().multiProcessorCount, 2);
        EXPECT_EQ(properties().totalGlobalMem, size_t{256} << 20);
      },
      "");
}

TEST_F(SimulatorConfig, NumberOfDevices) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_DEVICES", "5", 1);
        int count = 0;
        EXPECT_SUCCESS(cuda().cudaGetDeviceCount(&count));
        EXPECT_EQ(count, 5);
        EXPECT_SUCCESS(cuda().cudaSetDevice(4));
        DeviceArray<int> array(4);
        EXPECT_SUCCESS(cuda().cudaMemset(array.get(), 0, 16));
      },
      "");
}

TEST_F(SimulatorConfig, NoDeviceIsWhatCudaCallsNoDevice) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_DEVICES", "0", 1);
        int count = 7;
        EXPECT_CUDA(cudaErrorNoDevice, cuda().cudaGetDeviceCount(&count));
        EXPECT_EQ(count, 0);
        EXPECT_CUDA(cudaErrorNoDevice, cuda().cudaSetDevice(0));
      },
      "");
}

TEST_F(SimulatorConfig, MemoryOfADevice) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_MEMORY", "32MiB", 1);
        size_t free = 0;
        size_t total = 0;
        EXPECT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
        EXPECT_EQ(total, size_t{32} << 20);
        EXPECT_EQ(free, total);
        DeviceArray<char> most(30 << 20);
        void* pointer = nullptr;
        EXPECT_CUDA(cudaErrorMemoryAllocation, cuda().cudaMalloc(&pointer, 4 << 20));
        EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, 1 << 20));
      },
      "");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Under a limit on address space the devices shrink instead of failing, and
// leave room for the process.
TEST_F(SimulatorConfig, MemoryFitsALimitOnAddressSpace) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer reserves terabytes of addresses itself";
  }
  expect_in_new_process(
      [&] {
        const rlimit limit{size_t{16} << 30, size_t{16} << 30};
        EXPECT_EQ(0, setrlimit(RLIMIT_AS, &limit));
        size_t free = 0;
        size_t total = 0;
        EXPECT_SUCCESS(cuda().cudaMemGetInfo(&free, &total));
        EXPECT_GE(total, size_t{64} << 20);
        EXPECT_LT(total, size_t{4} << 30);
        EXPECT_NE(nullptr, std::malloc(size_t{4} << 30));
      },
      "");
}

TEST_F(SimulatorConfig, MemoryThatHasNoRoomIsAnError) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer reserves terabytes of addresses itself";
  }
  expect_in_new_process(
      [&] {
        const rlimit limit{size_t{4} << 30, size_t{4} << 30};
        EXPECT_EQ(0, setrlimit(RLIMIT_AS, &limit));
        setenv("ANVIL_SIMULATOR_MEMORY", "8GiB", 1);
        void* pointer = nullptr;
        EXPECT_CUDA(cudaErrorInitializationError, cuda().cudaMalloc(&pointer, 16));
      },
      "ANVIL_SIMULATOR_MEMORY: no address space for 2 devices");
}

TEST_F(SimulatorConfig, BadValuesAreRefusedByName) {
  for (const char* value : {"-1", "17", "two", "1x", " 1"}) {
    expect_refused("ANVIL_SIMULATOR_DEVICES", value, "0 to 16");
  }
  expect_refused("ANVIL_SIMULATOR_PROFILE", "h1000", "h100, a100");
  for (const char* value : {"lots", "1KiB", "-5", "99999999TiB", "8GiBs"}) {
    expect_refused("ANVIL_SIMULATOR_MEMORY", value, "8GiB");
  }
  for (const char* value : {"0", "1000", "all"}) {
    expect_refused("ANVIL_SIMULATOR_THREADS", value, "1 to 256");
  }
  expect_refused("ANVIL_SIMULATOR_INLINE", "yes", "0 or 1");
  expect_refused("ANVIL_SIMULATOR_SCHEDULE", "random", "seed");
}

TEST_F(SimulatorConfig, InlineWorkHasNoSchedule) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_INLINE", "1", 1);
        setenv("ANVIL_SIMULATOR_SCHEDULE", "1", 1);
        EXPECT_CUDA(cudaErrorInitializationError, cuda().cudaSetDevice(0));
      },
      "ANVIL_SIMULATOR_SCHEDULE");
}

}  // namespace
}  // namespace anvil::runtime::testing
