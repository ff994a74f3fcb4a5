#include "backend/allocator/FreeBlocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "backend/allocator/Sizes.h"

namespace anvil::allocator {
namespace {

Block block_of(size_t size) {
  Block block;
  block.size = size;
  return block;
}

TEST(FreeBlocks, AnEmptyPoolHasNothing) {
  EXPECT_EQ(FreeBlocks(true).best_fit(kMinBlockSize), nullptr);
  EXPECT_EQ(FreeBlocks(false).best_fit(2 * kMiB), nullptr);
}

TEST(FreeBlocks, FindsTheSmallestThatIsLargeEnough) {
  FreeBlocks pool(false);
  Block blocks[] = {block_of(30 * kMiB), block_of(3 * kMiB), block_of(3 * kMiB + 1024),
                    block_of(20 * kMiB)};
  for (Block& block : blocks) {
    pool.insert(&block);
  }
  EXPECT_EQ(pool.best_fit(2 * kMiB), &blocks[1]);
  EXPECT_EQ(pool.best_fit(3 * kMiB + 512), &blocks[2]);
  EXPECT_EQ(pool.best_fit(3 * kMiB + 1536), &blocks[3]);
  EXPECT_EQ(pool.best_fit(20 * kMiB + 512), &blocks[0]);
  EXPECT_EQ(pool.best_fit(30 * kMiB + 512), nullptr);
}

TEST(FreeBlocks, AmongEqualSizesTheLastFreedComesFirst) {
  FreeBlocks pool(true);
  Block first = block_of(1024);
  Block second = block_of(1024);
  pool.insert(&first);
  pool.insert(&second);
  EXPECT_EQ(pool.best_fit(1024), &second);
}

TEST(FreeBlocks, HoldsAWholeSmallSegmentAndBlocksOfManyGigabytes) {
  FreeBlocks small(true);
  Block segment = block_of(kSmallSegment);
  small.insert(&segment);
  EXPECT_EQ(small.best_fit(kMinBlockSize), &segment);
  FreeBlocks large(false);
  Block huge = block_of(size_t{1} << 50);
  large.insert(&huge);
  EXPECT_EQ(large.best_fit(size_t{1} << 49), &huge);
  EXPECT_EQ(large.best_fit((size_t{1} << 50) + 512), nullptr);
}

// Against a plain search over all free blocks.
void compare_with_search(bool is_small, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto random_size = [&] {
    const size_t limit = is_small ? kSmallSegment : 300 * kMiB;
    const size_t floor = is_small ? kMinBlockSize : kSmallSize + kMinBlockSize;
    // Mostly small ones, and many that are equal.
    const size_t range = (limit - floor) >> (random() % 12);
    return floor + random() % (range + 1) / kMinBlockSize * kMinBlockSize;
  };
  FreeBlocks pool(is_small);
  std::deque<Block> owner;
  std::vector<Block*> model;
  for (int step = 0; step < 20000; ++step) {
    if (model.empty() || random() % 5 < 2) {
      Block* block = &owner.emplace_back(block_of(random_size()));
      pool.insert(block);
      model.push_back(block);
    } else if (random() % 2 == 0) {
      const size_t victim = random() % model.size();
      pool.remove(model[victim]);
      model[victim] = model.back();
      model.pop_back();
    } else {
      const size_t size = random_size();
      const Block* expected = nullptr;
      for (const Block* block : model) {
        if (block->size >= size && (expected == nullptr || block->size < expected->size)) {
          expected = block;
        }
      }
      const Block* found = pool.best_fit(size);
      ASSERT_EQ(found == nullptr, expected == nullptr) << "step " << step;
      if (found != nullptr) {
        ASSERT_EQ(found->size, expected->size) << "step " << step;
      }
    }
  }
}

TEST(FreeBlocks, SmallPoolAgreesWithASearchOverAllBlocks) { compare_with_search(true, 1); }
TEST(FreeBlocks, LargePoolAgreesWithASearchOverAllBlocks) { compare_with_search(false, 2); }

}  // namespace
}  // namespace anvil::allocator
