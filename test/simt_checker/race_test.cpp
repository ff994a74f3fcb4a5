#include <numeric>
#include <string>

#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"
#include "test/simt_checker/planted_kernels.h"

namespace anvil::simt_checker {
namespace {

class RaceTest : public CheckedTest {};

std::vector<float> counting(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_F(RaceTest, ACleanReductionIsRightAndReportsNothing) {
  for (const size_t n : {1, 31, 33, 64, 127, 1000}) {
    for (const uint64_t seed : {0, 1, 2}) {
      set_order_seed(seed);
      Buffer<float> in("in", counting(n));
      Buffer<float> out("out", 1);
      sum(in.data(), out.data(), static_cast<int64_t>(n));
      EXPECT_EQ(out[0], static_cast<float>(n * (n + 1) / 2)) << n;
    }
  }
}

TEST_F(RaceTest, SharedMemoryReadWithoutABarrierIsARaceOfTwoThreads) {
  Buffer<float> in("in", counting(70));
  Buffer<float> out("out", 1);
  set_order_seed(3);  // some order in which thread 0 does not run first
  sum_without_barrier(in.data(), out.data(), 70);
  const std::vector<Report> reports = take_reports();
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(reports[0].fault == Fault::kRace || reports[0].fault == Fault::kUninitialized)
      << reports[0].message;
}

TEST_F(RaceTest, AReportNamesTheKernelTheThreadsAndTheLines) {
  Buffer<int> data("data", std::vector<int>(40, 7));
  shift_in_place(data.data(), 40);
  expect_fault(Fault::kRace, {"shift_in_place", "data", "write by thread", "read by thread",
                              "of block 0", "planted_kernels.cpp:"});
}

// A kernel without its barrier races at every element.
TEST_F(RaceTest, AFaultThatComesAgainAtTheSamePlacesIsDescribedOnce) {
  int described = 0;
  for (int i = 0; i < 3; ++i) {
    add_report(Fault::kRace, "kernel", &described, nullptr,
               [&] { return "description " + std::to_string(++described); });
  }
  expect_fault(Fault::kRace, {"kernel", "description 1"});
  EXPECT_EQ(described, 1);
}

TEST_F(RaceTest, OneThreadMayReadWhatItWrote) {
  Buffer<int> data("data", std::vector<int>(2, 7));
  shift_in_place(data.data(), 2);
  EXPECT_EQ(data[0], 7);
}

TEST_F(RaceTest, TwoBlocksThatWriteOneAddressRace) {
  Buffer<int> out("out", 1);
  write_from_all_blocks(out.data(), 1);
  EXPECT_TRUE(take_reports().empty());
  write_from_all_blocks(out.data(), 3);
  expect_fault(Fault::kBlockRace, {"write_from_all_blocks", "out", "block 0", "block 1"});
}

TEST_F(RaceTest, AtomicsOfTwoBlocksDoNotRace) {
  Buffer<int> out("out", std::vector<int>{0});
  count_blocks(out.data(), 5);
  EXPECT_EQ(out[0], 5);
}

TEST_F(RaceTest, ReadingWhatAnotherBlockWritesRacesInEitherOrder) {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    set_order_seed(seed);
    Buffer<int> data("data", std::vector<int>(2, 7));
    read_neighbour(data.data(), 2);
    expect_fault(Fault::kBlockRace, {"read_neighbour", "read by", "write by"});
  }
}

TEST_F(RaceTest, LaunchesAreOrdered) {
  Buffer<int> out("out", 1);
  write_from_all_blocks(out.data(), 1);
  count_blocks(out.data(), 4);
  EXPECT_EQ(out[0], 5);
}

TEST_F(RaceTest, TheLastBlockMayReadWhatFencesAndACounterOrder) {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    set_order_seed(seed);
    Buffer<float> in("in", counting(257));
    Buffer<float> parts("parts", 5);
    Buffer<unsigned> counter("counter", std::vector<unsigned>{0});
    Buffer<float> out("out", 1);
    sum_of_blocks(in.data(), parts.data(), counter.data(), out.data(), 257, 5, true);
    EXPECT_EQ(out[0], 257 * 258 / 2);
    EXPECT_EQ(counter[0], 0u);
  }
}

TEST_F(RaceTest, ACounterWithoutFencesOrdersNothing) {
  Buffer<float> in("in", counting(257));
  Buffer<float> parts("parts", 5);
  Buffer<unsigned> counter("counter", std::vector<unsigned>{0});
  Buffer<float> out("out", 1);
  sum_of_blocks(in.data(), parts.data(), counter.data(), out.data(), 257, 5, false);
  expect_fault(Fault::kBlockRace, {"sum_of_blocks_unfenced", "parts", "block 4"});
}

TEST_F(RaceTest, TheSeedOrdersBlocksAndThreads) {
  std::vector<std::vector<int64_t>> orders;
  for (const uint64_t seed : {0, 1, 1, 2}) {
    set_order_seed(seed);
    Buffer<int64_t> out("out", 4 * 64);
    Buffer<unsigned> counter("counter", std::vector<unsigned>{0});
    append(out.data(), counter.data(), 4);
    orders.push_back(out.to_vector());
  }
  std::vector<int64_t> ascending(4 * 64);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_EQ(orders[0], ascending);
  EXPECT_NE(orders[1], ascending);
  EXPECT_EQ(orders[1], orders[2]);
  EXPECT_NE(orders[1], orders[3]);
  for (std::vector<int64_t>& order : orders) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, ascending);
  }
}

}  // namespace
}  // namespace anvil::simt_checker
