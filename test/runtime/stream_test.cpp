#include "runtime/stream.h"

#include <type_traits>
#include <utility>

#include "runtime/error.h"
#include "runtime/event.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class StreamTest : public CudaTest {};

TEST_F(StreamTest, QueryIsFalseWhileWorkIsLeftAndLeavesNoError) {
  Stream stream;
  EXPECT_TRUE(stream.query());
  Gate gate;
  gate.close(stream.get());
  EXPECT_FALSE(stream.query());
  EXPECT_SUCCESS(cuda().cudaGetLastError());
  gate.open();
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_F(StreamTest, IsNotOrderedWithTheDefaultStream) {
  Stream stream;
  unsigned flags = 0;
  EXPECT_SUCCESS(cuda().cudaStreamGetFlags(stream.get(), &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
}

TEST_F(StreamTest, WaitsForAnEvent) {
  Stream first, second;
  Event event;
  Gate gate;
  gate.close(first.get());
  event.record(first);
  second.wait(event);
  EXPECT_FALSE(second.query());
  gate.open();
  second.synchronize();
}

TEST_F(StreamTest, HostFunctionsRunInOrder) {
  Stream stream;
  int value = 0;
  const StreamRef ref = stream;
  ref.launch_host_function([](void* data) { *static_cast<int*>(data) = 5; }, &value);
  ref.launch_host_function([](void* data) { *static_cast<int*>(data) *= 2; }, &value);
  stream.synchronize();
  EXPECT_EQ(value, 10);
}

TEST_F(StreamTest, MovesLeaveTheSourceEmpty) {
  Stream first;
  const cudaStream_t handle = first.get();
  Stream second = std::move(first);
  EXPECT_EQ(second.get(), handle);
  EXPECT_FALSE(first);
  first = std::move(second);
  EXPECT_EQ(first.get(), handle);
}

TEST_F(StreamTest, KnowsItsPriorityAndDevice) {
  Stream stream(-1);
  EXPECT_EQ(stream.priority(), -1);
  EXPECT_EQ(stream.device(), DeviceIndex{0});
}

// No number and no null is taken for a stream, and owners do not copy.
static_assert(!std::is_constructible_v<StreamRef, int>);
static_assert(!std::is_constructible_v<StreamRef, std::nullptr_t>);
static_assert(!std::is_copy_constructible_v<Stream>);
static_assert(!std::is_copy_assignable_v<Stream>);
static_assert(std::is_nothrow_move_constructible_v<Stream>);
static_assert(std::is_trivially_copyable_v<StreamRef>);

}  // namespace
}  // namespace anvil::runtime::testing
