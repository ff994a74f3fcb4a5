// What tests say of reports.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/simt_checker/machine.h"
#include "test/simt_checker/report.h"

namespace anvil::simt_checker {

// Reports that a test has not taken fail it.
class CheckedTest : public testing::Test {
 protected:
  void SetUp() override { set_order_seed(0); }
  void TearDown() override {
    for (const Report& report : take_reports()) {
      ADD_FAILURE() << report.message;
    }
  }

  // Takes the reports; fails unless there is exactly one, of this fault, whose
  // message contains each of `words`.
  static void expect_fault(Fault fault, const std::vector<std::string>& words) {
    const std::vector<Report> reports = take_reports();
    EXPECT_EQ(reports.size(), 1u);
    for (const Report& report : reports) {
      EXPECT_STREQ(fault_name(report.fault), fault_name(fault));
      for (const std::string& word : words) {
        EXPECT_NE(report.message.find(word), std::string::npos)
            << "\"" << word << "\" is not in: " << report.message;
      }
    }
  }
};

}  // namespace anvil::simt_checker
