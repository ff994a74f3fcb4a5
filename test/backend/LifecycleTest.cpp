#include "backend/Lifecycle.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>

#include "backend/BlockingRegion.h"
#include "backend/CachingAllocator.h"
#include "backend/Event.h"
#include "backend/Functions.h"
#include "backend/HostAllocator.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

// Runs `body` in a fork and returns what it returned; 255 if it threw.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int result = 255;
    try {
      result = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(result);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "the child died of signal " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

// 0 if `f` fails with an error that names the cure.
int names_the_cure(const std::function<void()>& f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return std::strstr(error.what(), "'spawn'") != nullptr ? 0 : 2;
  }
  return 1;
}

TEST(Fork, BeforeTheFirstUseTheChildMayUseTheDevice) {
  EXPECT_EQ(in_child([] { return getDeviceAllocator()->allocate(100).get() != nullptr ? 0 : 1; }),
            0);
}

TEST(Fork, AfterTheFirstUseEveryUseInTheChildNamesTheCure) {
  const c10::DataPtr data = getDeviceAllocator()->allocate(100);
  const Stream stream = getStreamFromPool();
  const auto refused = [&](const std::function<void()>& f) {
    return in_child([&] { return names_the_cure(f); });
  };
  EXPECT_EQ(refused([] { getDeviceAllocator()->allocate(100); }), 0);
  EXPECT_EQ(refused([] { getHostAllocator()->allocate(100); }), 0);
  EXPECT_EQ(refused([] { set_device(1); }), 0);
  EXPECT_EQ(refused([] { set_device(0); }), 0);
  EXPECT_EQ(refused([] { device_synchronize(); }), 0);
  EXPECT_EQ(refused([&] { stream.synchronize(); }), 0);
  EXPECT_EQ(refused([&] { Event().record(stream); }), 0);
  EXPECT_EQ(refused([] { getStreamFromPool(0, 1).stream(); }), 0);
  EXPECT_FALSE(is_in_bad_fork());
}

TEST(Fork, WhatTheChildInheritsIsDroppedWithoutHarm) {
  const Stream stream = getStreamFromPool();
  c10::DataPtr data = getDeviceAllocator()->allocate(100);
  at::DataPtr pinned = getHostAllocator()->allocate(100);
  Event event;
  event.record(stream);
  EXPECT_EQ(in_child([&] {
              data.clear();
              pinned.clear();
              {
                const Event dropped = std::move(event);
              }
              drain();
              return is_in_bad_fork() && !is_pinned(&data) && device_count() == 2 ? 0 : 1;
            }),
            0);
  // The parent goes on.
  event.synchronize();
  EXPECT_NE(data.get(), nullptr);
  EXPECT_NE(getDeviceAllocator()->allocate(100).get(), nullptr);
}

TEST(Drain, WaitsForQueuedWork) {
  std::atomic<int> done{0};
  for (c10::DeviceIndex device = 0; device < 2; ++device) {
    const Stream stream = getStreamFromPool(0, device);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(runtime::table().cudaLaunchHostFunc(
                    stream.stream(),
                    [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); }, &done),
                cudaSuccess);
    }
  }
  drain();
  EXPECT_EQ(done, 200);
  EXPECT_EQ(lifecycle(), Lifecycle::kEnded);
}

TEST(Drain, AfterItDeletersDoNothingAndUseIsRefused) {
  c10::DataPtr data = getDeviceAllocator()->allocate(100);
  at::DataPtr pinned = getHostAllocator()->allocate(100);
  Event event;
  event.record(getStreamFromPool());
  drain();
  drain();
  data.clear();
  pinned.clear();
  {
    const Event dropped = std::move(event);
  }
  EXPECT_THROW(getDeviceAllocator()->allocate(100), c10::Error);
  EXPECT_THROW(getHostAllocator()->allocate(1 << 20), c10::Error);
  getDeviceAllocator()->emptyCache();
}

TEST(Drain, OfAnUnusedDeviceDoesNothing) {
  drain();
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
}

// Stands for Python: counts, and asks for the allocator's lock when the "GIL" is
// taken back, as another thread that holds the GIL might.
struct FakeGil {
  static inline int released = 0;
  static inline int acquired = 0;
  static void* release() {
    ++released;
    return &released;
  }
  static void acquire(void* token) {
    EXPECT_EQ(token, &released);
    ++acquired;
    getDeviceAllocator()->getDeviceStats(0);
  }
};

TEST(BlockingRegion, EveryWaitReleasesTheGilAndHoldsNoLockWhenItEnds) {
  const Stream stream = getStreamFromPool();
  install_gil_hooks({&FakeGil::release, &FakeGil::acquire});
  const auto releases = [](const std::function<void()>& f) {
    const int before = FakeGil::released;
    f();
    EXPECT_EQ(FakeGil::released, FakeGil::acquired);
    return FakeGil::released > before;
  };
  EXPECT_TRUE(releases([] { device_synchronize(); }));
  EXPECT_TRUE(releases([&] { stream.synchronize(); }));
  Event event;
  EXPECT_FALSE(releases([&] { event.record(stream); }));
  EXPECT_TRUE(releases([&] { event.synchronize(); }));
  c10::DataPtr data;
  EXPECT_TRUE(releases([&] { data = getDeviceAllocator()->allocate(100); })) << "asks the driver";
  EXPECT_FALSE(releases([&] { data.clear(); })) << "a deleter must not wait";
  EXPECT_FALSE(releases([&] { data = getDeviceAllocator()->allocate(100); })) << "is cached";
  getDeviceAllocator()->recordStream(data, stream);
  EXPECT_FALSE(releases([&] { data.clear(); }));
  EXPECT_TRUE(releases([] { getDeviceAllocator()->emptyCache(); }));
  EXPECT_TRUE(releases([] {
    EXPECT_THROW(getDeviceAllocator()->allocate(size_t{1} << 50), c10::OutOfMemoryError);
  }));
  EXPECT_TRUE(releases([] { drain(); }));
  install_gil_hooks({nullptr, nullptr});
}

}  // namespace
}  // namespace anvil
