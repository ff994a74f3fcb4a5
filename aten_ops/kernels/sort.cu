// Stable sort along rows: merge sort. Blocks sort runs in shared memory; each
// further pass merges pairs of runs, an element finding its place by a binary
// search in the other run of its pair.
#include "aten_ops/kernels/sort.h"

#include <utility>

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/reduce_ops.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

// Elements of a run that a block sorts in shared memory.
inline constexpr int64_t kSortRun = 1024;

// Values with the positions they come from; `indices` null: an element's own.
struct SortedRows {
  Pointer<void> values;
  Pointer<int64_t> indices;
  ScalarType dtype;
};

// Descending order is ascending order of the reversed values: equal elements
// keep their order. A NaN is last in ascending and first in descending order.
template <class V>
struct SortOrder {
  bool descending;
  ANVIL_DEVICE bool less(V a, V b) const {
    if constexpr (std::is_floating_point_v<V>) {
      return descending ? (a > b || (is_nan(a) && !is_nan(b)))
                        : (a < b || (is_nan(b) && !is_nan(a)));
    } else {
      return descending ? a > b : a < b;
    }
  }
};

// Sorts each run of kSortRun elements: odd-even merge sort (Batcher, "Sorting
// networks and their applications", 1968) over values with their positions, so
// that no two elements are equal and the network is stable.
template <class V>
struct SortRuns {
  SortedRows from;
  SortedRows to;
  int64_t rows;
  int64_t length;
  int64_t runs;  // per row
  SortOrder<V> order;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    V* keys = team.template shared<V>(kSortRun);
    int32_t* positions = team.template shared<int32_t>(kSortRun);
    for (int64_t run = team.block(); run < rows * runs; run += team.blocks()) {
      const int64_t row = divide(run, runs);
      const int64_t first = (run - row * runs) * kSortRun;
      const int64_t left = length - first;
      const int64_t count = left < kSortRun ? left : kSortRun;
      const int64_t base = row * length + first;
      team.for_each(count, [&](int64_t i) {
        keys[i] = load_as<V>(from.dtype, from.values, base + i);
        positions[i] = static_cast<int32_t>(i);
      });
      team.sync();
      sort(team, keys, positions, count);
      team.for_each(count, [&](int64_t i) {
        store_as(to.dtype, to.values, base + i, keys[i]);
        to.indices[base + i] = first + positions[i];
      });
      team.sync();  // the next run reuses the memory
    }
  }

 private:
  ANVIL_DEVICE bool out_of_order(const V* keys,
                                 const int32_t* positions,
                                 int64_t a,
                                 int64_t b) const {
    return order.less(keys[b], keys[a]) ||
           (!order.less(keys[a], keys[b]) && positions[b] < positions[a]);
  }

  template <class Team>
  ANVIL_DEVICE void sort(Team& team, V* keys, int32_t* positions, int64_t count) const {
    for (int64_t p = 1; p < count; p *= 2) {
      for (int64_t k = p; k >= 1; k /= 2) {
        const int64_t offset = k % p;
        team.for_each(count, [&](int64_t a) {
          const int64_t b = a + k;
          const bool starts_pair = a >= offset && ((a - offset) / k) % 2 == 0;
          if (starts_pair && b < count && a / (2 * p) == b / (2 * p) &&
              out_of_order(keys, positions, a, b)) {
            const V key = keys[a];
            keys[a] = keys[b];
            keys[b] = key;
            const int32_t position = positions[a];
            positions[a] = positions[b];
            positions[b] = position;
          }
        });
        team.sync();
      }
    }
  }
};

// Merges the sorted runs of `run` elements pairwise.
template <class V>
struct MergeRuns {
  static constexpr int64_t kElementsPerBlock = 1024;
  SortedRows from;
  SortedRows to;
  int64_t rows;
  int64_t length;
  int64_t run;
  SortOrder<V> order;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t numel = rows * length;
    for (int64_t first = team.block() * kElementsPerBlock; first < numel;
         first += team.blocks() * kElementsPerBlock) {
      const int64_t left = numel - first;
      team.for_each(left < kElementsPerBlock ? left : kElementsPerBlock,
                    [&](int64_t i) { place(first + i); });
    }
  }

 private:
  ANVIL_DEVICE void place(int64_t element) const {
    const int64_t row = divide(element, length);
    const int64_t position = element - row * length;
    const int64_t base = row * length;
    const int64_t pair = divide(position, 2 * run) * 2 * run;
    const bool in_left = position < pair + run;
    const int64_t other_begin = in_left ? pair + run : pair;
    int64_t low = clamp(other_begin);
    int64_t high = clamp(other_begin + run);
    const int64_t begin = low;
    const V key = load_as<V>(from.dtype, from.values, element);
    // Elements of the other run that come before this one: those of the left
    // run also where they are equal.
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const V other = load_as<V>(from.dtype, from.values, base + middle);
      const bool before = in_left ? order.less(other, key) : !order.less(key, other);
      if (before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const int64_t own = in_left ? position - pair : position - pair - run;
    const int64_t target = base + pair + own + (low - begin);
    store_as(to.dtype, to.values, target, key);
    to.indices[target] = from.indices[element];
  }
  ANVIL_DEVICE int64_t clamp(int64_t position) const {
    return position < length ? position : length;
  }
};

namespace {

// The passes alternate between scratch memory and the output, and end in the
// output; scratch memory is one array of values and one of positions.
int64_t merge_passes(int64_t length) {
  int64_t passes = 0;
  for (int64_t run = kSortRun; run < length; run *= 2) {
    ++passes;
  }
  return passes;
}

size_t values_bytes(ScalarType dtype, int64_t numel) {
  return (static_cast<size_t>(numel) * static_cast<size_t>(element_size(dtype)) + 15) / 16 * 16;
}

template <class V>
void sort_rows(SortedRows from,
               SortedRows output,
               SortedRows scratch,
               int64_t rows,
               int64_t length,
               SortOrder<V> order,
               cudaStream_t stream) {
  const int64_t runs = (length + kSortRun - 1) / kSortRun;
  SortedRows to = merge_passes(length) % 2 == 0 ? output : scratch;
  SortedRows other = merge_passes(length) % 2 == 0 ? scratch : output;
  launch<SortRuns<V>>("sort_runs",
                      {.blocks = rows * runs,
                       .threads = length <= 64 ? 64 : 256,
                       .shared_bytes = shared_size<V>(kSortRun) + shared_size<int32_t>(kSortRun)},
                      stream, {from, to, rows, length, runs, order});
  for (int64_t run = kSortRun; run < length; run *= 2) {
    launch<MergeRuns<V>>(
        "merge_runs",
        {.blocks = blocks_for(rows * length, MergeRuns<V>::kElementsPerBlock), .threads = 256},
        stream, {to, other, rows, length, run, order});
    std::swap(to, other);
  }
}

size_t sort_scratch_bytes(ScalarType dtype, int64_t rows, int64_t length) {
  return merge_passes(length) == 0 ? 0
                                   : values_bytes(dtype, rows * length) +
                                         static_cast<size_t>(rows * length) * sizeof(int64_t);
}

void sort(const void* input,
          void* values,
          void* indices,
          ScalarType dtype,
          int64_t rows,
          int64_t length,
          bool descending,
          void* scratch,
          cudaStream_t stream) {
  const SortedRows from{const_cast<void*>(input), nullptr, dtype};
  const SortedRows output{values, static_cast<int64_t*>(indices), dtype};
  SortedRows buffer{nullptr, nullptr, dtype};
  if (scratch != nullptr) {
    buffer.values = scratch;
    buffer.indices = reinterpret_cast<int64_t*>(static_cast<char*>(scratch) +
                                                values_bytes(dtype, rows * length));
  }
  if (dtype == ScalarType::Double) {
    sort_rows<double>(from, output, buffer, rows, length, {descending}, stream);
  } else if (is_floating_dtype(dtype)) {
    sort_rows<float>(from, output, buffer, rows, length, {descending}, stream);
  } else if (is_integral_dtype(dtype)) {
    sort_rows<int64_t>(from, output, buffer, rows, length, {descending}, stream);
  } else {
    throw_not_implemented("sort", dtype);
  }
}

}  // namespace

const SortKernels sort_kernels{.scratch_bytes = sort_scratch_bytes, .sort = sort};

}  // namespace anvil::kernels
