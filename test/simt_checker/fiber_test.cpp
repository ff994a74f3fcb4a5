#include "test/simt_checker/fiber.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace anvil::simt_checker {
namespace {

void call(void* body) { (*static_cast<std::function<void()>*>(body))(); }

TEST(FiberTest, RunsUntilItSuspendsAndGoesOnThere) {
  Fiber fiber;
  std::vector<int> steps;
  std::function<void()> body = [&] {
    for (int i = 0;; ++i) {
      steps.push_back(i);
      fiber.suspend();
    }
  };
  fiber.start(&call, &body);
  EXPECT_TRUE(steps.empty());
  fiber.resume();
  steps.push_back(-1);
  fiber.resume();
  EXPECT_EQ(steps, (std::vector<int>{0, -1, 1}));
}

TEST(FiberTest, KeepsItsVariablesWhileOthersRun) {
  constexpr int kFibers = 1024;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::function<void()>> bodies(kFibers);
  std::vector<double> results(kFibers);
  for (int f = 0; f < kFibers; ++f) {
    fibers.push_back(std::make_unique<Fiber>());
    bodies[f] = [&results, f, fiber = fibers[f].get()] {
      double sum = 0.5;
      for (int i = 0; i < 10; ++i) {
        sum += f;
        fiber->suspend();
      }
      results[f] = sum;
      fiber->suspend();
    };
    fibers[f]->start(&call, &bodies[f]);
  }
  for (int i = 0; i < 11; ++i) {
    for (auto& fiber : fibers) {
      fiber->resume();
    }
  }
  for (int f = 0; f < kFibers; ++f) {
    EXPECT_EQ(results[f], 0.5 + 10.0 * f);
  }
}

TEST(FiberTest, ExceptionsAreCaughtInside) {
  Fiber fiber;
  bool caught = false;
  std::function<void()> body = [&] {
    try {
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
      caught = true;
    }
    fiber.suspend();
  };
  fiber.start(&call, &body);
  fiber.resume();
  EXPECT_TRUE(caught);
}

TEST(FiberTest, StartsAnewAfterItWasDropped) {
  Fiber fiber;
  int runs = 0;
  std::function<void()> body = [&] {
    ++runs;
    fiber.suspend();
    ADD_FAILURE() << "the dropped run went on";
  };
  for (int i = 0; i < 3; ++i) {
    fiber.start(&call, &body);
    fiber.resume();
  }
  EXPECT_EQ(runs, 3);
}

TEST(FiberTest, KnowsItsStack) {
  Fiber fiber;
  Fiber other;
  bool own = false;
  bool of_other = true;
  std::function<void()> body = [&] {
    int variable = 0;
    own = fiber.owns(&variable) && Fiber::is_stack(&variable);
    of_other = other.owns(&variable);
    fiber.suspend();
  };
  fiber.start(&call, &body);
  fiber.resume();
  EXPECT_TRUE(own);
  EXPECT_FALSE(of_other);
  int variable = 0;
  EXPECT_FALSE(Fiber::is_stack(&variable));
}

}  // namespace
}  // namespace anvil::simt_checker
