#include "runtime/memory.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "test/runtime/driver.h"

namespace anvil::runtime::testing {
namespace {

class MemoryTest : public CudaTest {};

TEST_F(MemoryTest, CopiesThereAndBack) {
  const std::vector<int> values{1, 2, 3, 4};
  std::vector<int> back(4);
  Stream stream;
  const DeviceMemory memory(bytes_of<int>(4));
  copy_async(memory.get(), values.data(), bytes_of<int>(4), stream);
  copy_async(back.data(), memory.get(), bytes_of<int>(4), stream);
  stream.synchronize();
  EXPECT_EQ(back, values);
}

TEST_F(MemoryTest, FillsBytes) {
  Stream stream;
  const DeviceMemory memory(Bytes{4});
  const PinnedMemory back(Bytes{4});
  fill_async(memory.get(), 0x12, Bytes{4}, stream);
  copy_async(back.get(), memory.get(), Bytes{4}, stream);
  stream.synchronize();
  EXPECT_EQ(*static_cast<int*>(back.get()), 0x12121212);
}

TEST_F(MemoryTest, TooMuchThrowsOutOfMemoryAndLeavesNoError) {
  const MemoryInfo info = memory_info();
  try {
    const DeviceMemory memory(Bytes{static_cast<size_t>(info.total) + 1});
    FAIL() << "more than the device has was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
  }
  EXPECT_SUCCESS(cuda().cudaGetLastError());
}

TEST_F(MemoryTest, TheDestructorGivesTheMemoryBack) {
  const Bytes before = memory_info().free;
  {
    DeviceMemory memory(Bytes{64 << 20});
    EXPECT_LT(memory_info().free, before);
    const DeviceMemory moved = std::move(memory);
    EXPECT_FALSE(memory);
  }
  EXPECT_EQ(memory_info().free, before);
}

TEST_F(MemoryTest, NoBytesAreNoPointer) { EXPECT_FALSE(DeviceMemory(Bytes{0})); }

static_assert(!std::is_constructible_v<DeviceMemory, int>);
static_assert(!std::is_constructible_v<PinnedMemory, int>);
static_assert(!std::is_copy_constructible_v<DeviceMemory>);
static_assert(!std::is_convertible_v<size_t, Bytes>);

}  // namespace
}  // namespace anvil::runtime::testing
