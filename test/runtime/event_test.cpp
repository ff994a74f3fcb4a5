#include "runtime/event.h"

#include <type_traits>
#include <utility>

#include "runtime/error.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class EventTest : public CudaTest {};

TEST_F(EventTest, QueryFollowsTheRecordedWorkAndLeavesNoError) {
  Stream stream;
  Event event;
  EXPECT_TRUE(event.query());
  Gate gate;
  gate.close(stream.get());
  event.record(stream);
  EXPECT_FALSE(event.query());
  EXPECT_SUCCESS(cuda().cudaGetLastError());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST_F(EventTest, ElapsedTimeNeedsTiming) {
  Stream stream;
  Event start(Timing::kOn), end(Timing::kOn), untimed;
  start.record(stream);
  end.record(stream);
  untimed.record(stream);
  stream.synchronize();
  EXPECT_GE(elapsed_milliseconds(start, end), 0.0f);
  EXPECT_THROW(elapsed_milliseconds(start, untimed), Error);
}

TEST_F(EventTest, MovesLeaveTheSourceEmpty) {
  Event first;
  const cudaEvent_t handle = first.get();
  const Event second = std::move(first);
  EXPECT_EQ(second.get(), handle);
  EXPECT_FALSE(first);
}

static_assert(!std::is_constructible_v<EventRef, int>);
static_assert(!std::is_constructible_v<EventRef, std::nullptr_t>);
static_assert(!std::is_copy_constructible_v<Event>);
static_assert(!std::is_constructible_v<Event, bool>);

}  // namespace
}  // namespace anvil::runtime::testing
