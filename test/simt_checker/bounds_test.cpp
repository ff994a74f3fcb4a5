#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"
#include "test/simt_checker/planted_kernels.h"

namespace anvil::simt_checker {
namespace {

class BoundsTest : public CheckedTest {};

TEST_F(BoundsTest, AnIndexPastASharedArrayIsReportedThoughAnotherArrayFollows) {
  for (const int64_t n : {3, 4, 64, 65}) {
    write_past_shared_array(n);
    expect_fault(Fault::kOutOfBounds,
                 {"write_past_shared_array", "write by thread",
                  "outside of the block's shared arrays", "planted_kernels.cpp:"});
  }
}

TEST_F(BoundsTest, MoreSharedMemoryThanTheLaunchHasIsReported) {
  take_too_much_shared_memory();
  expect_fault(Fault::kLaunch, {"take_too_much_shared_memory", "20 bytes", "16 bytes"});
}

TEST_F(BoundsTest, SharedMemoryIsNotInitialised) {
  Buffer<int> out("out", 64);
  read_unwritten_shared_memory(out.data());
  expect_fault(Fault::kUninitialized, {"read_unwritten_shared_memory", "thread 63"});
}

TEST_F(BoundsTest, AWritePastAnArrayIsReportedAndDoesNotHappen) {
  Buffer<int> out("result", std::vector<int>(65, 1));
  remove_array(out.data());
  add_array("result", out.data(), 64 * sizeof(int));
  write_past_array(out.data(), 64);
  expect_fault(Fault::kOutOfBounds,
               {"write_past_array", "0 bytes past the end of result (256 bytes)"});
  EXPECT_EQ(out[64], 1);
}

TEST_F(BoundsTest, AMisalignedVectorLoadIsReported) {
  Buffer<float> in("in", std::vector<float>(8, 1.0f));
  Buffer<float> out("out", 1);
  load_misaligned(in.data(), out.data());
  expect_fault(Fault::kMisaligned, {"load_misaligned", "16 bytes", "read by thread 0"});
}

TEST_F(BoundsTest, CallsOfMemsetAreSeen) {
  Buffer<unsigned char> out("out", 100);
  set_bytes(out.data(), 100);
  EXPECT_TRUE(take_reports().empty());
  set_bytes(out.data(), 101);
  expect_fault(Fault::kOutOfBounds, {"set_bytes", "101 bytes"});
}

TEST_F(BoundsTest, AVariableOfAnotherThreadIsPrivate) {
  Buffer<int> out("out", 64);
  read_variable_of_other_thread(out.data());
  expect_fault(Fault::kPrivate, {"read_variable_of_other_thread", "read by thread"});
}

TEST_F(BoundsTest, ConstantDataIsNotWritten) {
  write_constant_data();
  expect_fault(Fault::kReadOnly, {"write_constant_data"});
}

TEST_F(BoundsTest, ABlockIsAMultipleOfAWarp) {
  for (const int threads : {0, 16, 33, 1056}) {
    launch_with_threads(threads);
    expect_fault(Fault::kLaunch, {"launch_with_threads", std::to_string(threads)});
  }
}

}  // namespace
}  // namespace anvil::simt_checker
