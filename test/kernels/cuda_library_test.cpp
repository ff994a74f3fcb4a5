// libanvil_kernels_cuda in a process whose driver is the simulator: what nvcc's
// host code does at load and at a launch goes through the forwarders.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "aten_ops/kernels/fill.h"
#include "aten_ops/kernels/table.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/table.h"
#include "test/kernels/problems.h"

namespace anvil::kernels {
namespace {

class CudaLibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(ANVIL_TEST_KERNELS_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    accessor_ = reinterpret_cast<TableAccessor>(dlsym(library_, kTableAccessor));
    ASSERT_NE(accessor_, nullptr) << dlerror();
  }
  void TearDown() override {
    if (library_ != nullptr) {
      dlclose(library_);
    }
  }

  void* library_ = nullptr;
  TableAccessor accessor_ = nullptr;
};

TEST_F(CudaLibraryTest, RegistersWithTheSimulatorAndOffersTheTable) {
  EXPECT_EQ(runtime::driver(), runtime::Driver::kSimulator);
  EXPECT_NE(accessor_(sizeof(Table)), nullptr);
  EXPECT_EQ(accessor_(sizeof(Table) + 8), nullptr);
}

TEST_F(CudaLibraryTest, ALaunchReachesTheSimulatorWhichHasNoGpuToRunItOn) {
  runtime::DeviceMemory memory(runtime::Bytes{256});
  Iterator iterator =
      make_iterator(ScalarType::Float, {64}, {{memory.get(), ScalarType::Float, {1}}});
  Operand& value = iterator.operands[iterator.noperands];
  iterator.strides[iterator.noperands++][0] = 0;
  value.dtype = ScalarType::Float;
  value.is_immediate = true;
  std::memset(value.immediate, 0, sizeof(value.immediate));
  try {
    accessor_(sizeof(Table))->fill.fill(iterator, nullptr);
    FAIL() << "the launch was accepted";
  } catch (const runtime::Error& error) {
    EXPECT_EQ(error.code(), cudaErrorInvalidDeviceFunction) << error.what();
  }
}

}  // namespace
}  // namespace anvil::kernels
