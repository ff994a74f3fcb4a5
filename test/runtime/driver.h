// What the tests of the CUDA runtime share. They reach CUDA only through the
// table, so that they run unchanged on either driver (ANVIL_DRIVER).
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/table.h"

namespace anvil::runtime::testing {

inline const Table& cuda() { return table(); }

// "cudaErrorInvalidValue", so that a failed comparison can be read.
inline const char* name(cudaError_t code) { return cuda().cudaGetErrorName(code); }

#define EXPECT_CUDA(expected, call) EXPECT_STREQ(#expected, ::anvil::runtime::testing::name(call))
#define ASSERT_CUDA(expected, call) ASSERT_STREQ(#expected, ::anvil::runtime::testing::name(call))
#define EXPECT_SUCCESS(call) EXPECT_CUDA(cudaSuccess, call)
#define ASSERT_SUCCESS(call) ASSERT_CUDA(cudaSuccess, call)

// Holds a stream up: work enqueued behind `close` starts only after `open`.
// Opens at the end of the scope, so that a failed test does not hang.
class Gate {
 public:
  Gate() : state_(std::make_shared<State>()) {}
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void close(cudaStream_t stream) {
    auto* kept = new std::shared_ptr<State>(state_);
    EXPECT_SUCCESS(cuda().cudaLaunchHostFunc(stream, pass, kept));
  }
  void open() {
    const std::lock_guard lock(state_->mutex);
    state_->is_open = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
  };

  static void pass(void* data) {
    const std::unique_ptr<std::shared_ptr<State>> kept(static_cast<std::shared_ptr<State>*>(data));
    State& state = **kept;
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.is_open; });
  }

  std::shared_ptr<State> state_;
};

// Every test starts on device 0 without a left-over error, and leaves no work.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_SUCCESS(cuda().cudaSetDevice(0));
    cuda().cudaGetLastError();
  }
  void TearDown() override {
    int devices = 0;
    cuda().cudaGetDeviceCount(&devices);
    for (int device = 0; device < devices; ++device) {
      cuda().cudaSetDevice(device);
      EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    }
    cuda().cudaGetLastError();
  }
};

// For rules that need a second device.
class TwoDeviceTest : public CudaTest {
 protected:
  void SetUp() override {
    int devices = 0;
    ASSERT_SUCCESS(cuda().cudaGetDeviceCount(&devices));
    if (devices < 2) {
      GTEST_SKIP() << "this machine's CUDA has one device; the simulator has two";
    }
    CudaTest::SetUp();
  }
};

// RAII for what the tests make by the raw calls.
class TestStream {
 public:
  explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
    EXPECT_SUCCESS(cuda().cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~TestStream() { cuda().cudaStreamDestroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = cudaEventDefault) {
    EXPECT_SUCCESS(cuda().cudaEventCreateWithFlags(&event_, flags));
  }
  ~TestEvent() { cuda().cudaEventDestroy(event_); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    void* pointer = nullptr;
    EXPECT_SUCCESS(cuda().cudaMalloc(&pointer, size * sizeof(T)));
    data_ = static_cast<T*>(pointer);
  }
  ~DeviceArray() { cuda().cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t size_;
};

template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(size_t size) : size_(size) {
    void* pointer = nullptr;
    EXPECT_SUCCESS(cuda().cudaHostAlloc(&pointer, size * sizeof(T), cudaHostAllocDefault));
    data_ = static_cast<T*>(pointer);
  }
  ~PinnedArray() { cuda().cudaFreeHost(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  T* get() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t size_;
};

// GoogleTest keeps quiet in the process of a death test: writes what failed to
// stderr. True if anything did.
inline bool report_failures() {
  const ::testing::TestResult& result =
      *::testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const ::testing::TestPartResult& part = result.GetTestPartResult(i);
    if (part.failed()) {
      std::fprintf(stderr, "line %d: %s\n", part.line_number(), part.message());
    }
  }
  return ::testing::Test::HasFailure();
}

// Runs `body` in a new process, which it may break: expectations hold there as
// here, and what is written to stderr must match `pattern`.
template <class Body>
void expect_in_new_process(Body&& body, const std::string& pattern) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        body();
        std::_Exit(report_failures() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), pattern);
}

}  // namespace anvil::runtime::testing
