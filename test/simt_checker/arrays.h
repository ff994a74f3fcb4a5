// The arrays in global memory that kernels of a test may reach.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "test/simt_checker/shadow.h"

namespace anvil::simt_checker {

struct Array {
  std::string name;
  char* begin;
  std::vector<Cell> cells;  // one for each byte
};

// Every access of a kernel outside of them is a fault. Not while a kernel runs.
void add_array(const std::string& name, void* begin, size_t bytes);
void remove_array(void* begin);

// The array that holds [address, address + bytes), or null.
Array* find_array(const void* address, size_t bytes);
// Words that place an address beside the nearest array, for reports.
std::string describe_address(const void* address);

}  // namespace anvil::simt_checker
