#include <stdexcept>

#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"
#include "test/simt_checker/planted_kernels.h"

namespace anvil::simt_checker {
namespace {

class BarrierTest : public CheckedTest {};

TEST_F(BarrierTest, AThreadThatLeavesBeforeABarrierIsReported) {
  leave_before_barrier();
  expect_fault(Fault::kDivergentBarrier,
               {"leave_before_barrier", "block 0", "threads 32-63 have returned",
                "threads 0-31 wait at the barrier at planted_kernels.cpp:"});
}

TEST_F(BarrierTest, ThreadsAtTwoBarriersAreReported) {
  wait_at_two_barriers();
  expect_fault(Fault::kDivergentBarrier,
               {"wait_at_two_barriers", "threads 0-31 wait", "threads 32-63 wait"});
}

TEST_F(BarrierTest, AShuffleThatHalfAWarpReachesIsReported) {
  shuffle_in_half_a_warp();
  expect_fault(Fault::kDivergentShuffle,
               {"shuffle_in_half_a_warp", "threads 0-15, 32-47 wait in a shuffle",
                "threads 16-31, 48-63 wait at the barrier"});
}

TEST_F(BarrierTest, TheNextLaunchRunsAfterAFault) {
  leave_before_barrier();
  take_reports();
  Buffer<int> out("out", std::vector<int>{0});
  count_blocks(out.data(), 3);
  EXPECT_EQ(out[0], 3);
}

TEST_F(BarrierTest, AnExceptionOfAThreadReachesTheCallerOfTheLaunch) {
  EXPECT_THROW(throw_from_thread(), std::logic_error);
}

}  // namespace
}  // namespace anvil::simt_checker
