#include "test/simt_checker/arrays.h"

#include <cstdint>

namespace anvil::simt_checker {
namespace {

std::map<const char*, Array> arrays;  // by their begin
Array* last = nullptr;

bool holds(const Array& array, const char* address, size_t bytes) {
  return address >= array.begin && address + bytes <= array.begin + array.cells.size();
}

// The last array that begins at or before `address`.
Array* before(const char* address) {
  auto next = arrays.upper_bound(address);
  return next == arrays.begin() ? nullptr : &std::prev(next)->second;
}

}  // namespace

void add_array(const std::string& name, void* begin, size_t bytes) {
  char* first = static_cast<char*>(begin);
  arrays[first] = Array{name, first, std::vector<Cell>(bytes)};
}

void remove_array(void* begin) {
  arrays.erase(static_cast<char*>(begin));
  last = nullptr;
}

Array* find_array(const void* address, size_t bytes) {
  const char* first = static_cast<const char*>(address);
  if (last != nullptr && holds(*last, first, bytes)) {
    return last;
  }
  Array* array = before(first);
  if (array == nullptr || !holds(*array, first, bytes)) {
    return nullptr;
  }
  return last = array;
}

std::string describe_address(const void* address) {
  const char* where = static_cast<const char*>(address);
  const Array* lower = before(where);
  const auto upper = arrays.upper_bound(where);
  const int64_t past = lower == nullptr ? INT64_MAX : where - (lower->begin + lower->cells.size());
  const int64_t ahead = upper == arrays.end() ? INT64_MAX : upper->first - where;
  if (past == INT64_MAX && ahead == INT64_MAX) {
    return "no array is known";
  }
  if (past <= ahead) {
    return std::to_string(past) + " bytes past the end of " + lower->name + " (" +
           std::to_string(lower->cells.size()) + " bytes)";
  }
  return std::to_string(ahead) + " bytes before " + upper->second.name;
}

}  // namespace anvil::simt_checker
