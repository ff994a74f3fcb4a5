#include "runtime/handle.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace anvil::runtime {
namespace {

std::vector<int> destroyed;

struct Traits {
  using value_type = int;
  static void destroy(int value) noexcept { destroyed.push_back(value); }
};

class Owner : public Handle<Traits> {
 public:
  Owner() = default;
  explicit Owner(int value) : Handle(value) {}
};

class HandleTest : public ::testing::Test {
 protected:
  HandleTest() { destroyed.clear(); }
};

TEST_F(HandleTest, DestroysOnceAtTheEndOfItsScope) {
  {
    const Owner owner(5);
  }
  EXPECT_EQ(destroyed, std::vector<int>{5});
}

TEST_F(HandleTest, NullIsNeverDestroyed) {
  {
    const Owner owner;
  }
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(HandleTest, MovingDoesNotDestroy) {
  Owner first(5);
  {
    Owner second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), 5);
    EXPECT_TRUE(destroyed.empty());
  }
  EXPECT_EQ(destroyed, std::vector<int>{5});
}

TEST_F(HandleTest, AssigningDestroysWhatWasOwned) {
  Owner first(5);
  first = Owner(6);
  EXPECT_EQ(destroyed, std::vector<int>{5});
  EXPECT_EQ(first.get(), 6);
}

TEST_F(HandleTest, AssigningToItselfKeepsTheValue) {
  Owner owner(5);
  Owner& same = owner;
  owner = std::move(same);
  EXPECT_EQ(owner.get(), 5);
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(HandleTest, ReleaseGivesTheValueUp) {
  {
    Owner owner(5);
    EXPECT_EQ(owner.release(), 5);
    EXPECT_FALSE(owner);
  }
  EXPECT_TRUE(destroyed.empty());
}

}  // namespace
}  // namespace anvil::runtime
