#include "backend/Event.h"

#include <c10/core/Event.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "backend/Functions.h"
#include "backend/GuardImpl.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

TEST(Event, IsMadeByItsFirstRecordOnThatDevice) {
  Event event;
  EXPECT_FALSE(event.is_created());
  EXPECT_TRUE(event.query());
  event.synchronize();
  event.block(getDefaultStream(0));
  event.record(getStreamFromPool(0, 1));
  EXPECT_TRUE(event.is_created());
  EXPECT_EQ(event.device_index(), 1);
  EXPECT_EQ(current_device(), 0);
}

TEST(Event, IsDoneWhenTheWorkBeforeItIsDone) {
  const Stream stream = getStreamFromPool();
  test::Gate gate = test::Gate(stream);
  Event event;
  event.record(stream);
  EXPECT_FALSE(event.query());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST(Event, OrdersTwoStreamsAcrossDevices) {
  const Stream first = getStreamFromPool(0, 0);
  const Stream second = getStreamFromPool(0, 1);
  std::atomic<bool> done{false};
  test::Gate gate = test::Gate(first);
  Event event;
  event.record(first);
  event.block(second);
  ASSERT_EQ(runtime::table().cudaLaunchHostFunc(
                second.stream(),
                [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &done),
            cudaSuccess);
  EXPECT_FALSE(second.query());
  EXPECT_FALSE(done);
  gate.open();
  second.synchronize();
  EXPECT_TRUE(done);
}

TEST(Event, MeasuresTimeIfItWasMadeForIt) {
  const Stream stream = getStreamFromPool();
  Event begin(true);
  Event end(true);
  begin.record(stream);
  end.record(stream);
  end.synchronize();
  EXPECT_GE(begin.elapsed_milliseconds(end), 0.0);
  Event untimed;
  untimed.record(stream);
  untimed.synchronize();
  EXPECT_THROW(begin.elapsed_milliseconds(untimed), c10::Error);
  EXPECT_THROW(begin.elapsed_milliseconds(Event(true)), c10::Error);
  EXPECT_EQ(runtime::table().cudaPeekAtLastError(), cudaSuccess);
}

TEST(Event, ElapsedTimeOfUnfinishedWorkIsAnError) {
  const Stream stream = getStreamFromPool();
  Event begin(true);
  Event end(true);
  begin.record(stream);
  test::Gate gate = test::Gate(stream);
  end.record(stream);
  EXPECT_THROW(begin.elapsed_milliseconds(end), c10::Error);
}

TEST(Event, StaysOnItsDevice) {
  Event event;
  event.record(getDefaultStream(0));
  EXPECT_THROW(event.record(getDefaultStream(1)), c10::Error);
}

TEST(Event, MovesWithItsHandle) {
  Event event;
  event.record(getDefaultStream(0));
  const cudaEvent_t handle = event.event();
  Event moved = std::move(event);
  EXPECT_EQ(moved.event(), handle);
}

TEST(Event, MayBeDestroyedBeforeItsWorkIsDone) {
  const Stream stream = getStreamFromPool();
  test::Gate gate = test::Gate(stream);
  {
    Event event;
    event.record(stream);
  }
  gate.open();
  stream.synchronize();
}

TEST(Event, TorchsEventGoesThroughTheGuard) {
  const Stream stream = getStreamFromPool(0, 1);
  c10::Event begin(kDeviceType, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(kDeviceType, c10::EventFlag::BACKEND_DEFAULT);
  begin.record(stream.unwrap());
  test::Gate gate = test::Gate(stream);
  end.record(stream.unwrap());
  EXPECT_FALSE(end.query());
  gate.open();
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GE(begin.elapsedTime(end), 0.0);
  EXPECT_EQ(end.device_index(), 1);
  end.block(getDefaultStream(0).unwrap());
}

TEST(Event, TorchsEventWithoutTimingHasNoElapsedTime) {
  c10::Event begin(kDeviceType, c10::EventFlag::PYTORCH_DEFAULT);
  c10::Event end(kDeviceType, c10::EventFlag::PYTORCH_DEFAULT);
  begin.record(getDefaultStream(0).unwrap());
  end.record(getDefaultStream(0).unwrap());
  end.synchronize();
  EXPECT_THROW(begin.elapsedTime(end), c10::Error);
}

}  // namespace
}  // namespace anvil
