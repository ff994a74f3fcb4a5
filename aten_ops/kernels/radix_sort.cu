#include "aten_ops/kernels/radix_sort.h"

#include <type_traits>
#include <utility>

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

// Sixteen counters of 16 bits each, added as four words. A block's counts stay
// below 2^16.
struct DigitCounts {
  uint64_t a, b, c, d;

  ANVIL_DEVICE static DigitCounts one(int digit) {
    const uint64_t bit = uint64_t{1} << (digit % 4 * 16);
    const int word = digit / 4;
    return {word == 0 ? bit : 0, word == 1 ? bit : 0, word == 2 ? bit : 0, word == 3 ? bit : 0};
  }
  ANVIL_DEVICE int64_t of(int digit) const {
    const int word = digit / 4;
    const uint64_t bits = word == 0 ? a : word == 1 ? b : word == 2 ? c : d;
    return static_cast<int64_t>((bits >> (digit % 4 * 16)) & 0xFFFF);
  }
};

struct AddDigitCounts {
  ANVIL_DEVICE DigitCounts operator()(DigitCounts x, DigitCounts y) const {
    return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
  }
};

struct AddInt64 {
  ANVIL_DEVICE int64_t operator()(int64_t x, int64_t y) const { return x + y; }
};

// The digit of a pass: `width` bits from `shift` on, after flipping `flip`.
template <class Key>
struct Digit {
  using Unsigned = std::make_unsigned_t<Key>;
  int shift;
  int width;
  Unsigned flip;

  ANVIL_DEVICE int operator()(Key key) const {
    const Unsigned bits = (static_cast<Unsigned>(key) ^ flip) >> shift;
    return static_cast<int>(bits & ((Unsigned{1} << width) - 1));
  }
};

// counts[digit * blocks + block + 1] = keys with the digit in the block.
template <class Key>
struct CountDigits {
  static constexpr int kMaxThreads = 256;
  Pointer<const Key> keys;
  int64_t n, all_blocks;
  Digit<Key> digit;
  Pointer<int64_t> counts;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t block = team.block(); block < all_blocks; block += team.blocks()) {
      const Key* x = keys + block * RadixSort::kPerBlock;
      const int64_t rest = n - block * RadixSort::kPerBlock;
      const DigitCounts total = team.reduce(
          rest < RadixSort::kPerBlock ? rest : RadixSort::kPerBlock, DigitCounts{0, 0, 0, 0},
          AddDigitCounts{}, [&](int64_t i) { return DigitCounts::one(digit(x[i])); });
      team.for_each(RadixSort::kDigits, [&](int64_t d) {
        counts[d * all_blocks + block + 1] = total.of(static_cast<int>(d));
      });
    }
  }
};

// counts[i] = sum of the counts before i.
struct ScanDigits {
  Pointer<int64_t> counts;
  int64_t size;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { counts[0] = 0; });
    team.inclusive_scan(
        size, int64_t{0}, AddInt64{}, [&](int64_t i) { return counts[i + 1]; },
        [&](int64_t i, int64_t sum) { counts[i + 1] = sum; });
  }
};

template <class Key>
struct ScatterDigits {
  static constexpr int kMaxThreads = 256;
  Pointer<const Key> keys;
  Pointer<const int64_t> positions;  // null: 0, 1, 2, ...
  int64_t n, all_blocks;
  Digit<Key> digit;
  Pointer<const int64_t> counts;
  Pointer<Key> to_keys;
  Pointer<int64_t> to_positions;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t block = team.block(); block < all_blocks; block += team.blocks()) {
      const int64_t begin = block * RadixSort::kPerBlock;
      const int64_t rest = n - begin;
      team.inclusive_scan(
          rest < RadixSort::kPerBlock ? rest : RadixSort::kPerBlock, DigitCounts{0, 0, 0, 0},
          AddDigitCounts{}, [&](int64_t i) { return DigitCounts::one(digit(keys[begin + i])); },
          [&](int64_t i, DigitCounts prefix) {
            const Key key = keys[begin + i];
            const int d = digit(key);
            const int64_t to = counts[d * all_blocks + block] + prefix.of(d) - 1;
            to_keys[to] = key;
            to_positions[to] = positions.get() == nullptr ? begin + i : positions[begin + i];
          });
    }
  }
};

template <class Key>
void sort_keys(const RadixSort& sort, cudaStream_t stream) {
  using Unsigned = std::make_unsigned_t<Key>;
  constexpr int kKeyBits = static_cast<int>(8 * sizeof(Key));
  const Unsigned flip = sort.bits == kKeyBits ? Unsigned{1} << (kKeyBits - 1) : 0;
  const int64_t blocks = RadixSort::blocks(sort.n);
  const int passes = (sort.bits + RadixSort::kDigitBits - 1) / RadixSort::kDigitBits;
  // The last pass writes to the result.
  auto* to_keys = static_cast<Key*>(passes % 2 == 1 ? sort.sorted_keys : sort.other_keys);
  auto* next_keys = static_cast<Key*>(passes % 2 == 1 ? sort.other_keys : sort.sorted_keys);
  int64_t* to_positions = passes % 2 == 1 ? sort.positions : sort.other_positions;
  int64_t* next_positions = passes % 2 == 1 ? sort.other_positions : sort.positions;
  const auto* keys = static_cast<const Key*>(sort.keys);
  const int64_t* positions = nullptr;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * RadixSort::kDigitBits;
    const int rest = sort.bits - shift;
    const Digit<Key> digit{shift, rest < RadixSort::kDigitBits ? rest : RadixSort::kDigitBits,
                           flip};
    launch<CountDigits<Key>>("radix_sort_count", {.blocks = blocks}, stream,
                             {keys, sort.n, blocks, digit, sort.counts});
    launch<ScanDigits>("radix_sort_scan", {.blocks = 1, .threads = 512}, stream,
                       {sort.counts, blocks * RadixSort::kDigits});
    launch<ScatterDigits<Key>>(
        "radix_sort_scatter", {.blocks = blocks}, stream,
        {keys, positions, sort.n, blocks, digit, sort.counts, to_keys, to_positions});
    keys = to_keys;
    positions = to_positions;
    std::swap(to_keys, next_keys);
    std::swap(to_positions, next_positions);
  }
}

void sort(const RadixSort& sort, cudaStream_t stream) {
  if (sort.key_dtype == ScalarType::Int) {
    sort_keys<int32_t>(sort, stream);
  } else {
    sort_keys<int64_t>(sort, stream);
  }
}

const RadixSortKernels radix_sort_kernels{.sort = sort};

}  // namespace anvil::kernels
