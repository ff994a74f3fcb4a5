// What the tests of the BLAS stand-in share: matrices in device memory, and the
// definition of a product to compare with.
#pragma once

#include <cublas_api.h>
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <random>
#include <vector>

#include "test/runtime/driver.h"

namespace anvil::runtime::testing {

#define EXPECT_BLAS(expected, call) EXPECT_STREQ(#expected, cublasGetStatusName(call))
#define ASSERT_BLAS(expected, call) ASSERT_STREQ(#expected, cublasGetStatusName(call))

// The stand-in computes on the simulator's memory.
class BlasTest : public CudaTest {
 protected:
  void SetUp() override {
    if (driver() != Driver::kSimulator) {
      GTEST_SKIP() << "the stand-in serves the simulator only";
    }
    CudaTest::SetUp();
  }
};

class Handle {
 public:
  Handle() { EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasCreate_v2(&handle_)); }
  ~Handle() { EXPECT_BLAS(CUBLAS_STATUS_SUCCESS, cublasDestroy_v2(handle_)); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cublasHandle_t() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

// A host array and its copy in device memory.
template <class T>
class Mirror {
 public:
  explicit Mirror(std::vector<T> values) : values_(std::move(values)), device_(values_.size()) {
    EXPECT_SUCCESS(
        cuda().cudaMemcpy(device_.get(), values_.data(), device_.bytes(), cudaMemcpyHostToDevice));
    // A copy from pageable memory returns before it has arrived.
    EXPECT_SUCCESS(cuda().cudaStreamSynchronize(nullptr));
  }
  T* get() const { return device_.get(); }
  const std::vector<T>& host() const { return values_; }

  // What the device has now.
  std::vector<T> read() const {
    std::vector<T> values(values_.size());
    EXPECT_SUCCESS(cuda().cudaDeviceSynchronize());
    EXPECT_SUCCESS(
        cuda().cudaMemcpy(values.data(), device_.get(), device_.bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::vector<T> values_;
  DeviceArray<T> device_;
};

// Small integers: products and sums of them are exact in every type, so that
// results must be equal.
template <class T>
T number(int value) {
  return T(static_cast<float>(value));
}
template <>
inline cuComplex number(int value) {
  return {static_cast<float>(value), static_cast<float>(value % 3)};
}
template <>
inline cuDoubleComplex number(int value) {
  return {static_cast<double>(value), static_cast<double>(value % 3)};
}

template <class T>
std::vector<T> random_numbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    value = number<T>(static_cast<int>(generator() % 9) - 4);
  }
  return values;
}

using Exact = std::complex<double>;

template <class T>
Exact exact(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <>
inline Exact exact(double value) {
  return value;
}
template <>
inline Exact exact(cuComplex value) {
  return {value.x, value.y};
}
template <>
inline Exact exact(cuDoubleComplex value) {
  return {value.x, value.y};
}

// Element (i, j) of op(matrix), which lies in memory by columns.
template <class T>
Exact element(const std::vector<T>& memory,
              cublasOperation_t operation,
              int64_t i,
              int64_t j,
              int64_t leading,
              int64_t first = 0) {
  switch (operation) {
    case CUBLAS_OP_N:
      return exact(memory[first + i + j * leading]);
    case CUBLAS_OP_T:
      return exact(memory[first + j + i * leading]);
    default:
      return std::conj(exact(memory[first + j + i * leading]));
  }
}

// The sum over k of a(i, p) * b(p, j).
inline Exact inner_product(int64_t k, const std::function<Exact(int64_t)>& term) {
  Exact sum = 0;
  for (int64_t p = 0; p < k; ++p) {
    sum += term(p);
  }
  return sum;
}

}  // namespace anvil::runtime::testing
