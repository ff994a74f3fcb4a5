#include "backend/Generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/TensorBase.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "backend/Functions.h"

namespace anvil {
namespace {

GeneratorImpl& impl(const at::Generator& generator) { return *generator.get<GeneratorImpl>(); }

at::TensorBase bytes(const std::vector<uint8_t>& values) {
  at::TensorBase tensor = at::detail::empty_cpu({static_cast<int64_t>(values.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr<uint8_t>(), values.data(), values.size());
  return tensor;
}

TEST(Generator, StartsWithTorchsSeed) {
  const at::Generator generator = createGenerator(1);
  EXPECT_EQ(generator.current_seed(), c10::default_rng_seed_val);
  EXPECT_EQ(generator.get_offset(), 0u);
  EXPECT_EQ(generator.device(), c10::Device(kDeviceType, 1));
  EXPECT_TRUE(generator.key_set().has(c10::DispatchKey::PrivateUse1));
}

TEST(Generator, OffsetsAdvanceByMultiplesOfFour) {
  const at::Generator generator = createGenerator(0);
  GeneratorImpl& philox = impl(generator);
  philox.set_current_seed(7);
  using Inputs = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(philox.philox_engine_inputs(1), Inputs(7, 0));
  EXPECT_EQ(philox.philox_engine_inputs(4), Inputs(7, 4));
  EXPECT_EQ(philox.philox_engine_inputs(5), Inputs(7, 8));
  EXPECT_EQ(philox.philox_engine_inputs(0), Inputs(7, 16));
  EXPECT_EQ(philox.get_offset(), 16u);
}

TEST(Generator, StateIsSeedAndOffsetAsLittleEndianIntegers) {
  at::Generator generator = createGenerator(0);
  generator.set_current_seed(0x0807060504030201);
  generator.set_offset(0x1c);
  const auto state = generator.getIntrusivePtr()->get_state();
  ASSERT_EQ(state->numel(), 16);
  const std::vector<uint8_t> expected{1, 2, 3, 4, 5, 6, 7, 8, 0x1c, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(std::memcmp(state->data(), expected.data(), expected.size()), 0);
}

TEST(Generator, TakesItsStateBack) {
  const at::Generator generator = createGenerator(0);
  GeneratorImpl& philox = impl(generator);
  philox.set_current_seed(42);
  philox.philox_engine_inputs(8);
  const auto state = philox.get_state();
  const auto expected = philox.philox_engine_inputs(4);
  philox.set_current_seed(1);
  philox.set_state(*state);
  EXPECT_EQ(philox.philox_engine_inputs(4), expected);
}

TEST(Generator, TakesAStateWithoutAnOffset) {
  at::Generator generator = createGenerator(0);
  generator.set_offset(8);
  generator.getIntrusivePtr()->set_state(*bytes({9, 0, 0, 0, 0, 0, 0, 0}).unsafeGetTensorImpl());
  EXPECT_EQ(generator.current_seed(), 9u);
  EXPECT_EQ(generator.get_offset(), 0u);
}

TEST(Generator, RefusesStatesThatAreNone) {
  const at::Generator generator = createGenerator(0);
  GeneratorImpl& philox = impl(generator);
  philox.set_current_seed(5);
  EXPECT_THROW(philox.set_state(*bytes(std::vector<uint8_t>(15)).unsafeGetTensorImpl()),
               c10::Error);
  EXPECT_THROW(philox.set_state(*at::detail::empty_cpu({16}, at::kFloat).unsafeGetTensorImpl()),
               c10::TypeError);
  // An offset that is no multiple of 4 leaves the generator as it was.
  std::vector<uint8_t> odd(16);
  odd[8] = 3;
  EXPECT_THROW(philox.set_state(*bytes(odd).unsafeGetTensorImpl()), c10::Error);
  EXPECT_THROW(philox.set_offset(6), c10::Error);
  EXPECT_EQ(philox.current_seed(), 5u);
}

TEST(Generator, ACloneGoesItsOwnWay) {
  at::Generator generator = createGenerator(1);
  generator.set_current_seed(3);
  generator.set_offset(12);
  at::Generator clone = generator.clone();
  EXPECT_EQ(clone.device(), generator.device());
  EXPECT_EQ(clone.current_seed(), 3u);
  EXPECT_EQ(clone.get_offset(), 12u);
  clone.set_current_seed(4);
  EXPECT_EQ(generator.current_seed(), 3u);
}

TEST(Generator, ThereIsOneDefaultGeneratorPerDevice) {
  const at::Generator& first = getDefaultGenerator(0);
  EXPECT_EQ(first, getDefaultGenerator());
  EXPECT_EQ(first, at::detail::getPrivateUse1Hooks().getDefaultGenerator(0));
  EXPECT_NE(first, getDefaultGenerator(1));
  EXPECT_NE(first, createGenerator(0));
  EXPECT_THROW(getDefaultGenerator(5), c10::Error);
}

TEST(Generator, SeedingAtRandomStartsAgain) {
  at::Generator generator = createGenerator(0);
  generator.set_offset(4);
  const uint64_t seed = generator.seed();
  EXPECT_EQ(generator.current_seed(), seed);
  EXPECT_EQ(generator.get_offset(), 0u);
}

TEST(Generator, ThreadsThatHoldTheMutexGetDisjointOffsets) {
  const at::Generator generator = createGenerator(0);
  constexpr int kThreads = 4;
  constexpr int kDraws = 200;
  std::vector<std::vector<uint64_t>> offsets(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : offsets) {
    threads.emplace_back([&] {
      for (int i = 0; i < kDraws; ++i) {
        GeneratorImpl& philox = impl(generator);
        const std::lock_guard<std::mutex> guard(philox.mutex_);
        mine.push_back(philox.philox_engine_inputs(4).second);
      }
    });
  }
  std::set<uint64_t> all;
  for (int i = 0; i < kThreads; ++i) {
    threads[i].join();
    all.insert(offsets[i].begin(), offsets[i].end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kDraws));
  EXPECT_EQ(generator.get_offset(), 4u * kThreads * kDraws);
}

}  // namespace
}  // namespace anvil
