// The order between blocks, without fibers.
#include "test/simt_checker/ordering.h"

#include <gtest/gtest.h>

#include "test/simt_checker/shadow.h"

namespace anvil::simt_checker {
namespace {

constexpr int kThreads = 64;
int counter;
int other_counter;

class OrderingTest : public testing::Test {
 protected:
  // A write of block 0's thread.
  Access write(int thread) {
    first.touch(thread);
    return {1, 0, first.clock(), static_cast<uint16_t>(thread), false, nullptr};
  }

  Locations locations;
  Block first{0, kThreads, &locations};
  Block second{1, kThreads, &locations};
};

TEST_F(OrderingTest, AFenceAndAnAtomicReleaseWhatTheThreadWrote) {
  const Access before = write(0);
  first.fence(0);
  const Access after = write(0);
  first.atomic(0, &counter);
  EXPECT_FALSE(second.is_after(before, 0));
  second.atomic(0, &counter);
  EXPECT_FALSE(second.is_after(before, 0)) << "no fence after the atomic yet";
  second.fence(0);
  EXPECT_TRUE(second.is_after(before, 0));
  EXPECT_FALSE(second.is_after(after, 0)) << "written after the fence";
}

TEST_F(OrderingTest, OtherThreadsAcquireAtTheNextBarrier) {
  const Access access = write(0);
  first.fence(0);
  first.atomic(0, &counter);
  second.atomic(0, &counter);
  second.fence(0);
  EXPECT_FALSE(second.is_after(access, 5));
  second.barrier();
  EXPECT_TRUE(second.is_after(access, 5));
}

TEST_F(OrderingTest, ABarrierGathersTheWritesOfABlockIfOneFenceFollowsIt) {
  const Access access = write(5);
  first.barrier();
  first.fence(0);
  first.atomic(0, &counter);
  second.atomic(0, &counter);
  second.fence(0);
  EXPECT_TRUE(second.is_after(access, 0));
}

TEST_F(OrderingTest, ABarrierGathersTheWritesOfABlockIfEachThreadFenced) {
  const Access of_five = write(5);
  write(6);
  first.fence(5);
  first.barrier();
  first.atomic(0, &counter);  // thread 6 has not fenced
  second.atomic(0, &counter);
  second.fence(0);
  EXPECT_FALSE(second.is_after(of_five, 0));

  first.fence(6);
  first.barrier();
  first.atomic(0, &counter);
  second.atomic(0, &counter);
  second.fence(0);
  EXPECT_TRUE(second.is_after(of_five, 0));
}

TEST_F(OrderingTest, AnAtomicOnAnotherLocationOrdersNothing) {
  const Access access = write(0);
  first.fence(0);
  first.atomic(0, &counter);
  second.atomic(0, &other_counter);
  second.fence(0);
  EXPECT_FALSE(second.is_after(access, 0));
}

TEST_F(OrderingTest, AnAtomicThatComesFirstAcquiresNothing) {
  second.atomic(0, &counter);
  const Access access = write(0);
  first.fence(0);
  first.atomic(0, &counter);
  second.fence(0);
  EXPECT_FALSE(second.is_after(access, 0));
}

}  // namespace
}  // namespace anvil::simt_checker
