// Philox against the known answers of its authors, and its use of the counter.
#include "aten_ops/kernels/philox.h"

#include <gtest/gtest.h>

namespace anvil::kernels {
namespace {

bool operator==(Uint4 a, Uint4 b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }

// kat_vectors of the Random123 library (Salmon et al. 2011), "philox4x32 10".
TEST(Philox, GivesItsAuthorsKnownAnswers) {
  EXPECT_TRUE(philox4x32_10({0, 0, 0, 0}, 0, 0) ==
              (Uint4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_TRUE(philox4x32_10({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u) ==
              (Uint4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_TRUE(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                            0x299f31d0) == (Uint4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, PutsPositionAndThreadInTheCounterAndTheSeedInTheKey) {
  const PhiloxState state{.seed = 0x123456789abcdef0, .offset = uint64_t{8} << 32};
  EXPECT_TRUE(philox_draw(state, 0x1122334455667788, 3) ==
              philox4x32_10({3, 2, 0x55667788, 0x11223344}, 0x9abcdef0, 0x12345678));
}

TEST(Philox, UniformNumbersLieInTheirHalfOpenIntervals) {
  EXPECT_EQ(uniform_float(0), 0x1p-33f);
  EXPECT_EQ(uniform_float(~0u), 1.0f);
  EXPECT_EQ(uniform_double(0, 0), 0x1p-54);
  EXPECT_LE(uniform_double(~0u, ~0u), 1.0);
}

}  // namespace
}  // namespace anvil::kernels
