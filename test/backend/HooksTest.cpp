#include "backend/Hooks.h"

#include <ATen/Context.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <vector>

#include "backend/CachingAllocator.h"
#include "backend/Functions.h"
#include "backend/HostAllocator.h"
#include "backend/Lifecycle.h"
#include "backend/Resize.h"
#include "backend/Stream.h"
#include "test/backend/Gate.h"

namespace anvil {
namespace {

const at::PrivateUse1HooksInterface& hooks() { return at::detail::getPrivateUse1Hooks(); }

TEST(Hooks, AnswerWithoutInitializing) {
  ASSERT_TRUE(at::isPrivateUse1HooksRegistered());
  EXPECT_TRUE(hooks().isBuilt());
  EXPECT_TRUE(hooks().isAvailable());
  EXPECT_EQ(hooks().deviceCount(), 2);
  EXPECT_EQ(hooks().getCurrentDevice(), 0);
  EXPECT_FALSE(hooks().hasPrimaryContext(0));
  EXPECT_EQ(lifecycle(), Lifecycle::kUnused);
}

TEST(Hooks, TorchsLazyInitializationInitializes) {
  at::globalContext().lazyInitDevice(kDeviceType);
  EXPECT_EQ(lifecycle(), Lifecycle::kInUse);
  EXPECT_FALSE(hooks().hasPrimaryContext(0)) << "no device was used yet";
}

TEST(Hooks, SwitchTheDevice) {
  hooks().setCurrentDevice(1);
  EXPECT_EQ(current_device(), 1);
  EXPECT_TRUE(hooks().hasPrimaryContext(1));
  EXPECT_FALSE(hooks().hasPrimaryContext(0));
  EXPECT_EQ(hooks().exchangeDevice(0), 1);
  EXPECT_EQ(hooks().maybeExchangeDevice(-1), 0);
  EXPECT_THROW(hooks().setCurrentDevice(2), c10::Error);
}

TEST(Hooks, KnowTheDeviceOfAPointer) {
  set_device(1);
  const c10::DataPtr data = getDeviceAllocator()->allocate(100);
  set_device(0);
  EXPECT_EQ(hooks().getDeviceFromPtr(data.get()), c10::Device(kDeviceType, 1));
  int value = 0;
  EXPECT_THROW(hooks().getDeviceFromPtr(&value), c10::Error);
  const at::DataPtr pinned = getHostAllocator()->allocate(100);
  EXPECT_THROW(hooks().getDeviceFromPtr(pinned.get()), c10::Error);
}

TEST(Hooks, MakeGeneratorsOfTheDeviceAskedFor) {
  EXPECT_EQ(hooks().getNewGenerator(1).device(), c10::Device(kDeviceType, 1));
  EXPECT_EQ(hooks().getNewGenerator().device(), c10::Device(kDeviceType, 0));
  EXPECT_THROW(hooks().getNewGenerator(4), c10::Error);
}

c10::Storage storage_of(size_t bytes, bool resizable = true) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, getDeviceAllocator(), resizable));
}

std::vector<unsigned char> bytes_of(const c10::Storage& storage, size_t bytes) {
  std::vector<unsigned char> host(bytes);
  EXPECT_EQ(runtime::table().cudaMemcpy(host.data(), storage.data(), bytes, cudaMemcpyDeviceToHost),
            cudaSuccess);
  return host;
}

TEST(Resize, KeepsTheBytesThatFit) {
  const c10::Storage storage = storage_of(100);
  ASSERT_EQ(runtime::table().cudaMemset(storage.mutable_data(), 3, 100), cudaSuccess);
  hooks().resizePrivateUse1Bytes(storage, 5000);
  EXPECT_EQ(storage.nbytes(), 5000u);
  EXPECT_EQ(bytes_of(storage, 100), std::vector<unsigned char>(100, 3));
  hooks().resizePrivateUse1Bytes(storage, 40);
  EXPECT_EQ(storage.nbytes(), 40u);
  EXPECT_EQ(bytes_of(storage, 40), std::vector<unsigned char>(40, 3));
}

TEST(Resize, NeverWaitsAndCopiesInStreamOrder) {
  const Stream stream = getStreamFromPool();
  const c10::Storage storage = storage_of(64);  // of the default stream
  const c10::StreamGuard guard(stream.unwrap());
  ASSERT_EQ(runtime::table().cudaMemset(storage.mutable_data(), 1, 64), cudaSuccess);
  const void* const old = storage.data();
  test::Gate gate = test::Gate(stream);
  ASSERT_EQ(runtime::table().cudaMemsetAsync(storage.mutable_data(), 9, 64, stream.stream()),
            cudaSuccess);
  hooks().resizePrivateUse1Bytes(storage, 128);
  EXPECT_FALSE(stream.query());
  {
    const c10::StreamGuard back(getDefaultStream().unwrap());
    EXPECT_NE(getDeviceAllocator()->allocate(64).get(), old) << "the copy still reads it";
  }
  gate.open();
  stream.synchronize();
  EXPECT_EQ(bytes_of(storage, 64), std::vector<unsigned char>(64, 9));
}

TEST(Resize, StaysOnTheStoragesDevice) {
  set_device(1);
  const c10::Storage storage = storage_of(16);
  set_device(0);
  resize_bytes(storage.unsafeGetStorageImpl(), 1024);
  EXPECT_EQ(storage.device(), c10::Device(kDeviceType, 1));
  EXPECT_EQ(hooks().getDeviceFromPtr(storage.mutable_data()), c10::Device(kDeviceType, 1));
  EXPECT_EQ(current_device(), 0);
}

TEST(Resize, ToAndFromNothing) {
  const c10::Storage storage = storage_of(16);
  resize_bytes(storage.unsafeGetStorageImpl(), 0);
  EXPECT_EQ(storage.nbytes(), 0u);
  EXPECT_EQ(storage.data(), nullptr);
  EXPECT_EQ(storage.device(), c10::Device(kDeviceType, 0));
  resize_bytes(storage.unsafeGetStorageImpl(), 8);
  EXPECT_EQ(storage.nbytes(), 8u);
  EXPECT_NE(storage.data(), nullptr);
}

TEST(Resize, RefusesAFixedStorageAndSurvivesRunningOut) {
  EXPECT_THROW(resize_bytes(storage_of(16, false).unsafeGetStorageImpl(), 32), c10::Error);
  const c10::Storage storage = storage_of(16);
  const void* const before = storage.data();
  EXPECT_THROW(resize_bytes(storage.unsafeGetStorageImpl(), size_t{1} << 55),
               c10::OutOfMemoryError);
  EXPECT_EQ(storage.data(), before);
  EXPECT_EQ(storage.nbytes(), 16u);
}

}  // namespace
}  // namespace anvil
