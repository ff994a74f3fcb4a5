// Host code that touches device memory, and kernels that leave their memory.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

class SimulatorFault : public ::testing::Test {
 protected:
  SimulatorFault() {
    setenv("ANVIL_DRIVER", "simulator", 1);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }

  static char* allocate(size_t bytes) {
    void* pointer = nullptr;
    EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, bytes));
    return static_cast<char*>(pointer);
  }
  static char read(const char* address) { return *const_cast<const volatile char*>(address); }
};

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer, as the handler before, ends the process its own way.
const auto died = [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; };
#else
const auto died = ::testing::KilledBySignal(SIGSEGV);
#endif

TEST_F(SimulatorFault, ReadNamesDeviceAllocationAndOffset) {
  EXPECT_EXIT(read(allocate(1000) + 16), died,
              "host code touched device memory at 0x[0-9a-f]+: device 0, 16 bytes into an "
              "allocation of 1000 bytes at 0x[0-9a-f]+");
}

TEST_F(SimulatorFault, WriteIsReportedToo) {
  EXPECT_EXIT(
      {
        cuda().cudaSetDevice(1);
        *const_cast<volatile char*>(allocate(64)) = 1;
      },
      died, "device 1, 0 bytes into an allocation of 64 bytes");
}

TEST_F(SimulatorFault, FreedMemoryIsCalledFreed) {
  EXPECT_EXIT(
      {
        char* pointer = allocate(5000);
        cuda().cudaFree(pointer);
        read(pointer + 4999);
      },
      died, "4999 bytes into a freed allocation of 5000 bytes");
}

TEST_F(SimulatorFault, OtherDeviceAddressesAreInNoAllocation) {
  EXPECT_EXIT(read(allocate(1) + (1 << 26)), died, "device 0, not in an allocation");
}

TEST_F(SimulatorFault, OtherFaultsAreNotReported) {
  EXPECT_EXIT(
      {
        allocate(1);
        volatile uintptr_t nowhere = 8;
        read(reinterpret_cast<const char*>(nowhere));
      },
      died, "^$|AddressSanitizer");
}

void last_words(int) {
  constexpr char kText[] = "the handler before\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(42);
}

TEST_F(SimulatorFault, TheHandlerThatWasThereBeforeIsCalled) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, last_words);
        read(allocate(1));
      },
      ::testing::ExitedWithCode(42), "host code touched device memory.*\n.*the handler before");
}

TEST_F(SimulatorFault, AChildAfterForkHasNoAccessEither) {
  EXPECT_EXIT(
      {
        char* pointer = allocate(1);
        const pid_t child = fork();
        if (child == 0) {
          read(pointer);
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        _exit(died(status) ? 42 : 0);
      },
      ::testing::ExitedWithCode(42), "host code touched device memory");
}

// What the parent stores after the fork, and what its kernels do, is not the
// child's to see or change: the child's view of kernel memory is closed too.
TEST_F(SimulatorFault, AChildAfterForkCannotReachTheKernelView) {
  EXPECT_EXIT(
      {
        const char* address =
            reinterpret_cast<char*>(kernel_pointer(reinterpret_cast<float*>(allocate(4))));
        read(address);
        const pid_t child = fork();
        if (child == 0) {
          read(address);
          _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        _exit(died(status) ? 42 : 0);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(SimulatorFault, AKernelOutsideOfItsMemoryIsNamed) {
  expect_in_new_process(
      [&] {
        DeviceArray<float> array(16);
        float* pointer = kernel_pointer(array.get());
        void* arguments[] = {&pointer};
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(wild_kernel(), dim3(1), dim3(1), arguments, 0, nullptr));
        EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
      },
      "kernel 'wild' made an illegal access to device memory at 0x[0-9a-f]+: device 0");
}

TEST_F(SimulatorFault, AKernelThatUsesANullPointerFailsAndTheProcessGoesOn) {
  expect_in_new_process(
      [] {
        float* data = nullptr;
        int count = 1;
        float value = 1;
        void* arguments[] = {&data, &count, &value};
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(add_kernel(), dim3(1), dim3(1), arguments, 0, nullptr));
        EXPECT_CUDA(cudaErrorIllegalAddress, cuda().cudaDeviceSynchronize());
      },
      "kernel 'add' used a null pointer");
}

}  // namespace
}  // namespace anvil::runtime::testing
