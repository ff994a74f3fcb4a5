#include "aten_ops/kernels/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "test/kernels/draws.h"
#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

// A tail in the first round, whole rounds, a tail in a later one.
constexpr int64_t kSizes[] = {1, 31, 257, 2048, 2049, 5000};
constexpr PhiloxState kState{.seed = 0x123456789, .offset = 8};
const Draws kDraws{kState, 2};
constexpr RandomGrid kGrid{.blocks = 2};
constexpr double kPi = 3.14159265358979323846;

template <class T>
RandomOutput dense(const Buffer<T>& out) {
  return {out.data(), scalar_type_of<T>, {1, {static_cast<int64_t>(out.size())}, {{1}}}};
}

class RandomTest : public simt_checker::CheckedTest {
 protected:
  // fill(output) gives every element i the value expected(i), within
  // tolerance(that value).
  template <class T, class Fill, class Expected>
  static void check(Fill fill, Expected expected, double tolerance = 0) {
    for (const int64_t n : kSizes) {
      Buffer<T> out("out", n);
      fill(dense(out));
      for (int64_t i = 0; i < n; ++i) {
        const double e = static_cast<double>(expected(i));
        ASSERT_TRUE(close(static_cast<double>(out[i]), e, tolerance * (1 + std::abs(e))))
            << n << " " << i;
      }
    }
  }
};

TEST_F(RandomTest, UniformNumbersOfEachDtypeAreTheDrawsScaled) {
  const auto fill = [](const RandomOutput& out) {
    random_kernels.uniform(out, kGrid, kState, -1, 3, nullptr);
  };
  // from + u * range, rounded once.
  check<float>(fill, [](int64_t i) { return std::fma(kDraws.uniform_of(i), 4.0f, -1.0f); });
  check<Half>(fill, [](int64_t i) { return -1 + 4.0 * kDraws.uniform_of(i); }, 1e-3);
  check<double>(
      fill,
      [](int64_t i) {
        const uint64_t x = kDraws.high_of(i) ^ static_cast<uint64_t>(kDraws.low_of(i)) << 21;
        return -1 + 4 * (static_cast<double>(x) * 0x1p-53 + 0x1p-54);
      },
      1e-15);
}

TEST_F(RandomTest, AStridedOutputIsFilledInTheOrderOfItsDimensions) {
  constexpr int64_t kRows = 33, kColumns = 61;
  Buffer<float> out("out", std::vector<float>(kRows * 2 * kColumns, -7));
  const RandomOutput output{
      out.data(), ScalarType::Float, {2, {kRows, kColumns}, {{2 * kColumns, 1}}}};
  random_kernels.uniform(output, kGrid, kState, 0, 1, nullptr);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < 2 * kColumns; ++column) {
      ASSERT_EQ(out[row * 2 * kColumns + column],
                column < kColumns ? kDraws.uniform_of(column * kRows + row) : -7);
    }
  }
}

TEST_F(RandomTest, NormalNumbersAreBoxAndMullers) {
  // Draws 2k and 2k + 1 of a thread make the numbers 2k (sine) and 2k + 1 (cosine).
  const auto normal = [](int64_t i) {
    const int64_t thread = i % kDraws.threads();
    const int64_t n = i / kDraws.threads();
    const double u = (kDraws.bits(thread, n / 2 * 2) + 0.5) * 0x1p-32;
    const double turns = (kDraws.bits(thread, n / 2 * 2 + 1) + 0.5) * 0x1p-32;
    const double angle = 2 * kPi * turns;
    return std::sqrt(-2 * std::log(u)) * (n % 2 == 0 ? std::sin(angle) : std::cos(angle));
  };
  // The radius loses digits where u is close to 1.
  check<float>(
      [](const RandomOutput& out) { random_kernels.normal(out, kGrid, kState, 2, 3, nullptr); },
      [&](int64_t i) { return 2 + 3 * normal(i); }, 1e-4);
  check<float>(
      [](const RandomOutput& out) {
        random_kernels.log_normal(out, kGrid, kState, 0, 0.5, nullptr);
      },
      [&](int64_t i) { return std::exp(0.5 * normal(i)); }, 1e-4);
  check<double>(
      [](const RandomOutput& out) { random_kernels.normal(out, kGrid, kState, 0, 1, nullptr); },
      [](int64_t i) {
        const int64_t thread = i % kDraws.threads();
        const int64_t n = i / kDraws.threads();
        const auto fraction = [&](int64_t first) {  // 53 bits of two draws
          const uint64_t x = kDraws.bits(thread, first) ^
                             static_cast<uint64_t>(kDraws.bits(thread, first + 1)) << 21;
          return (static_cast<double>(x) + 0.5) * 0x1p-53;
        };
        const double radius = std::sqrt(-2 * std::log(fraction(n / 2 * 4)));
        const double angle = 2 * kPi * fraction(n / 2 * 4 + 2);
        return radius * (n % 2 == 0 ? std::sin(angle) : std::cos(angle));
      },
      1e-13);
}

TEST_F(RandomTest, ExponentialAndCauchyNumbersInvertTheirDistributions) {
  check<float>(
      [](const RandomOutput& out) { random_kernels.exponential(out, kGrid, kState, 2, nullptr); },
      [](int64_t i) { return -std::log(double(kDraws.uniform_of(i))) / 2; }, 1e-6);
  // The slope of the tangent times the rounding of its argument.
  check<float>(
      [](const RandomOutput& out) { random_kernels.cauchy(out, kGrid, kState, 1, 2, nullptr); },
      [](int64_t i) { return 1 + 2 * std::tan(kPi * (kDraws.uniform_of(i) - 0.5)); }, 1e-3);
}

TEST_F(RandomTest, BernoulliAndGeometricTrials) {
  const auto bernoulli = [](const RandomOutput& out) {
    random_kernels.bernoulli(out, kGrid, kState, 0.3, nullptr);
  };
  const auto expected = [](int64_t i) { return kDraws.uniform_of(i) < 0.3f; };
  check<float>(bernoulli, expected);
  check<bool>(bernoulli, expected);
  for (const int64_t n : kSizes) {
    Buffer<int32_t> out("out", n);
    random_kernels.geometric(dense(out), kGrid, kState, 0.25, nullptr);
    for (int64_t i = 0; i < n; ++i) {
      // The next whole number; float may round the logarithm across it.
      const double trials = std::log(double(kDraws.uniform_of(i))) / std::log(0.75);
      ASSERT_GE(out[i], trials - 1e-4);
      ASSERT_LT(out[i], trials + 1 + 1e-4);
    }
  }
}

TEST_F(RandomTest, IntegersAreRemaindersOfTheDraws) {
  check<int32_t>(
      [](const RandomOutput& out) {
        random_kernels.random_from_to(out, kGrid, kState, 1000, -500, nullptr);
      },
      [](int64_t i) { return int64_t{kDraws.bits_of(i) % 1000} - 500; });
  constexpr uint64_t kWide = uint64_t{1} << 40;
  check<int64_t>(
      [](const RandomOutput& out) {
        random_kernels.random_from_to(out, kGrid, kState, kWide - 1, 3, nullptr);
      },
      [](int64_t i) { return kDraws.bits64_of(i) % (kWide - 1) + 3; });
  const auto random = [](const RandomOutput& out) {
    random_kernels.random(out, kGrid, kState, nullptr);
  };
  check<int8_t>(random, [](int64_t i) { return kDraws.bits_of(i) % 128; });
  check<bool>(random, [](int64_t i) { return kDraws.bits_of(i) % 2; });
  check<Half>(random, [](int64_t i) { return kDraws.bits_of(i) % 2049; });
  check<double>(random, [](int64_t i) { return kDraws.bits64_of(i) % ((uint64_t{1} << 53) + 1); });
  Buffer<int64_t> out("out", 2049);
  random_kernels.random_full_range(dense(out), kGrid, kState, nullptr);
  for (int64_t i = 0; i < 2049; ++i) {
    ASSERT_EQ(out[i], static_cast<int64_t>(kDraws.bits64_of(i)));
  }
}

TEST_F(RandomTest, BernoulliWithAProbabilityForEachElement) {
  for (const int64_t n : kSizes) {
    Buffer<float> p("p", n);
    for (int64_t i = 0; i < n; ++i) {
      p[i] = static_cast<float>(i % 5) / 4;
    }
    Buffer<uint8_t> out("out", n);
    random_kernels.bernoulli_tensor(dense(out), p.data(), kState, nullptr);
    for (int64_t i = 0; i < n; ++i) {  // four consecutive elements for a thread
      ASSERT_EQ(out[i], kDraws.uniform(i / 4, i % 4) <= p[i]) << n << " " << i;
    }
    p[n - 1] = 1.5;
    EXPECT_THROW(random_kernels.bernoulli_tensor(dense(out), p.data(), kState, nullptr),
                 std::logic_error);
  }
}

TEST_F(RandomTest, ShufflesRunsOfEqualKeysAndNothingElse) {
  constexpr int kBits = 10;
  for (const int64_t n : {1, 2, 33, 511, 512, 513, 1100}) {
    Buffer<int64_t> keys("keys", n);
    Buffer<int16_t> values("values", n);
    std::vector<int16_t> expected(n);
    std::iota(expected.begin(), expected.end(), int16_t{0});
    std::copy(expected.begin(), expected.end(), values.begin());
    for (int64_t i = 0; i < n; ++i) {
      // Runs of 1 to 9; what lies above the bits does not count.
      keys[i] = static_cast<int64_t>(std::sqrt(i % 97)) * 17 % 29 + (i << kBits);
    }
    for (int64_t begin = 0, end = 0; begin < n; begin = end) {
      while (end < n && (keys[begin] ^ keys[end]) % (1 << kBits) == 0) {
        ++end;
      }
      for (int64_t left = end - begin, k = 0; left > 1; --left, ++k) {
        std::swap(expected[begin + left - 1], expected[begin + kDraws.bits(begin, k) % left]);
      }
    }
    random_kernels.shuffle_equal_keys(keys.data(), ScalarType::Long, values.data(), 2, n, kBits,
                                      kState, nullptr);
    ASSERT_EQ(values.to_vector(), expected) << n;
  }
}

}  // namespace
}  // namespace anvil::kernels
