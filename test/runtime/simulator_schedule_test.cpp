// Workers, priorities, the inline mode and the adversarial schedule.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/runtime/driver.h"
#include "test/runtime/kernels.h"

namespace anvil::runtime::testing {
namespace {

class SimulatorSchedule : public ::testing::Test {
 protected:
  SimulatorSchedule() { setenv("ANVIL_DRIVER", "simulator", 1); }
};

// A kernel that waits for the host: unlike a host function it takes a worker.
std::atomic<bool> kernel_released{false};
const void* waiting_kernel() {
  static int handle;
  const anvilKernel kernel{"wait",
                           [](const anvilLaunch*) {
                             while (!kernel_released) {
                               std::this_thread::yield();
                             }
                           },
                           nullptr, 0};
  EXPECT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
  return &handle;
}

// A kernel that notes its argument.
std::string log_of_letters;
const void* noting_kernel() {
  static int handle;
  static constexpr size_t kSizes[] = {sizeof(char)};
  const anvilKernel kernel{"note",
                           [](const anvilLaunch* launch) {
                             log_of_letters += *static_cast<char*>(launch->arguments[0]);
                           },
                           kSizes, 1};
  EXPECT_SUCCESS(cuda().anvilSimulatorRegisterKernel(&handle, &kernel));
  return &handle;
}

void note(char letter, cudaStream_t stream) {
  void* arguments[] = {&letter};
  EXPECT_SUCCESS(cuda().cudaLaunchKernel(noting_kernel(), dim3(1), dim3(1), arguments, 0, stream));
}

TEST_F(SimulatorSchedule, TheGreaterPriorityRunsFirst) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_THREADS", "1", 1);
        cudaStream_t low = nullptr;
        cudaStream_t high = nullptr;
        EXPECT_SUCCESS(cuda().cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, 0));
        EXPECT_SUCCESS(cuda().cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -5));
        TestStream busy;
        EXPECT_SUCCESS(
            cuda().cudaLaunchKernel(waiting_kernel(), dim3(1), dim3(1), nullptr, 0, busy));
        note('l', low);
        note('l', low);
        note('h', high);
        note('h', high);
        kernel_released = true;
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        EXPECT_EQ(log_of_letters, "hhll");
      },
      "");
}

// A host function may wait for work of another stream, so it takes no worker.
TEST_F(SimulatorSchedule, BlockedHostFunctionsDoNotKeepOtherStreamsFromRunning) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_THREADS", "1", 1);
        std::vector<std::unique_ptr<TestStream>> held;
        Gate gate;
        for (int i = 0; i < 20; ++i) {
          held.push_back(std::make_unique<TestStream>());
          gate.close(*held.back());
        }
        TestStream free;
        note('x', free);
        EXPECT_SUCCESS(cuda().cudaStreamSynchronize(free));
        gate.open();
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
      },
      "");
}

TEST_F(SimulatorSchedule, InlineWorkIsDoneWhenTheCallReturns) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_INLINE", "1", 1);
        TestStream stream;
        std::thread::id id;
        EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(
            stream,
            [](void* data) { *static_cast<std::thread::id*>(data) = std::this_thread::get_id(); },
            &id));
        EXPECT_EQ(id, std::this_thread::get_id());
        note('a', stream);
        EXPECT_EQ(log_of_letters, "a");
        EXPECT_SUCCESS(cuda().cudaStreamQuery(stream));
      },
      "");
}

// Runs two streams of letters that nothing orders; the order they ran in.
std::string unordered(const char* seed) {
  setenv("ANVIL_SIMULATOR_SCHEDULE", seed, 1);
  setenv("ANVIL_SIMULATOR_THREADS", "1", 1);
  TestStream first, second;
  for (int i = 0; i < 8; ++i) {
    note('1', first);
    note('2', second);
  }
  EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
  return log_of_letters;
}

// The order in which `unordered(seed)` ran in a child of this process, which has
// made no call yet.
std::string order_in_child(const char* seed) {
  int ends[2];
  EXPECT_EQ(0, pipe(ends));
  if (fork() == 0) {
    const std::string order = unordered(seed);
    [[maybe_unused]] const ssize_t written = write(ends[1], order.data(), order.size());
    std::_Exit(0);
  }
  close(ends[1]);
  char order[64];
  const ssize_t length = read(ends[0], order, sizeof(order));
  close(ends[0]);
  wait(nullptr);
  return std::string(order, std::max<ssize_t>(length, 0));
}

TEST_F(SimulatorSchedule, AnAdversarialScheduleReordersUnorderedStreams) {
  expect_in_new_process(
      [&] {
        std::set<std::string> orders;
        for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
          const std::string order = order_in_child(seed);
          EXPECT_EQ(8, std::count(order.begin(), order.end(), '1')) << order;
          EXPECT_EQ(8, std::count(order.begin(), order.end(), '2')) << order;
          orders.insert(order);
        }
        EXPECT_GT(orders.size(), 1u);
      },
      "");
}

TEST_F(SimulatorSchedule, AnAdversarialScheduleKeepsTheOrderOfAStreamAndOfEvents) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_SCHEDULE", "7", 1);
        TestStream first, second;
        TestEvent event;
        std::string expected;
        for (int i = 0; i < 20; ++i) {
          note('a', first);
          note('b', first);
          EXPECT_SUCCESS(cuda().cudaEventRecord(event, first));
          EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(second, event, 0));
          note('c', second);
          EXPECT_SUCCESS(cuda().cudaEventRecord(event, second));
          EXPECT_SUCCESS(cuda().cudaStreamWaitEvent(first, event, 0));
          expected += "abc";
        }
        EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
        EXPECT_EQ(log_of_letters, expected);
      },
      "");
}

// New memory is not zero there, as on a GPU.
TEST_F(SimulatorSchedule, AnAdversarialScheduleHandsOutDirtyMemory) {
  expect_in_new_process(
      [&] {
        setenv("ANVIL_SIMULATOR_SCHEDULE", "1", 1);
        DeviceArray<unsigned> array(100);
        unsigned value = 0;
        EXPECT_SUCCESS(cuda().cudaMemcpy(&value, array.get() + 99, 4, cudaMemcpyDeviceToHost));
        EXPECT_EQ(value, 0xffffffffu);
      },
      "");
}

}  // namespace
}  // namespace anvil::runtime::testing
