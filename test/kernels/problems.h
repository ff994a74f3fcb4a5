// Small problems for kernels.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "aten_ops/kernels/iterator.h"

namespace anvil::kernels {

// Below, at and above a warp, a block, a vector's width and a block's tile.
inline constexpr int64_t kOddSizes[] = {1, 2, 31, 32, 33, 127, 128, 257, 1000, 1025};

// Whole numbers in [-range, range]: float sums of them are exact.
template <class T = float>
std::vector<T> whole_numbers(size_t n, int range = 8, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> distribution(-range, range);
  std::vector<T> values(n);
  for (auto&& value : values) {
    value = static_cast<T>(distribution(random));
  }
  return values;
}

template <class T = float>
std::vector<T> normal_numbers(size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<T> values(n);
  for (T& value : values) {
    value = static_cast<T>(distribution(random));
  }
  return values;
}

// Equal (infinities too), both NaN, or no further apart than `tolerance`.
inline testing::AssertionResult close(double actual, double expected, double tolerance) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)) ||
      std::abs(actual - expected) <= tolerance) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << actual << " instead of " << expected;
}

struct Strided {
  void* data;
  ScalarType dtype;
  std::vector<int64_t> strides;  // in elements, fastest dimension first
};

// Output first.
inline Iterator make_iterator(ScalarType common_dtype,
                              const std::vector<int64_t>& shape,
                              std::initializer_list<Strided> operands) {
  Iterator iterator;
  iterator.ndim = static_cast<int>(shape.size());
  iterator.noutputs = 1;
  iterator.common_dtype = common_dtype;
  for (size_t d = 0; d < shape.size(); ++d) {
    iterator.shape[d] = shape[d];
  }
  for (const Strided& operand : operands) {
    const int k = iterator.noperands++;
    iterator.operands[k].data = operand.data;
    iterator.operands[k].dtype = operand.dtype;
    for (size_t d = 0; d < shape.size(); ++d) {
      iterator.strides[k][d] = operand.strides[d] * element_size(operand.dtype);
    }
  }
  return iterator;
}

}  // namespace anvil::kernels
