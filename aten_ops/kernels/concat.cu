#include "aten_ops/kernels/concat.h"

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

struct alignas(16) Bytes16 {
  uint64_t low, high;
};

template <class T>
struct ConcatRows {
  static constexpr int64_t kPerBlock = 2048;

  int count;
  int64_t rows, row_stride;
  Pointer<T> output;
  Pointer<const T> input[Concat::kMaxInputs];
  int64_t length[Concat::kMaxInputs];
  int64_t column[Concat::kMaxInputs];
  // Input i is the work of blocks [first_block[i], first_block[i + 1]).
  int64_t first_block[Concat::kMaxInputs + 1];

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t block = team.block(); block < first_block[count]; block += team.blocks()) {
      int i = 0;
      while (block >= first_block[i + 1]) {
        ++i;
      }
      const int64_t n = rows * length[i];
      const int64_t begin = (block - first_block[i]) * kPerBlock;
      const int64_t end = begin + kPerBlock < n ? begin + kPerBlock : n;
      // The block's run of the input, row by row.
      for (int64_t at = begin; at < end;) {
        const int64_t row = divide(at, length[i]);
        const int64_t in_row = at - row * length[i];
        const int64_t rest = length[i] - in_row;
        const int64_t run = rest < end - at ? rest : end - at;
        T* ANVIL_RESTRICT to = output + row * row_stride + column[i] + in_row;
        const T* ANVIL_RESTRICT from = input[i] + at;
        team.for_each(run, [=](int64_t j) { to[j] = from[j]; });
        at += run;
      }
    }
  }
};

// Rows too short for a block's threads to share: a thread for each element.
template <class T>
struct ConcatElements {
  static constexpr int64_t kPerBlock = 2048;

  ConcatRows<T> concat;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const ConcatRows<T>& c = concat;
    for (int64_t block = team.block(); block < c.first_block[c.count]; block += team.blocks()) {
      int i = 0;
      while (block >= c.first_block[i + 1]) {
        ++i;
      }
      const int64_t n = c.rows * c.length[i];
      const int64_t begin = (block - c.first_block[i]) * kPerBlock;
      const int64_t count = n - begin < kPerBlock ? n - begin : kPerBlock;
      const int64_t length = c.length[i];
      T* ANVIL_RESTRICT to = c.output + c.column[i];
      const T* ANVIL_RESTRICT from = c.input[i] + begin;
      team.for_each(count, [=](int64_t j) {
        const int64_t row = divide(begin + j, length);
        to[row * c.row_stride + begin + j - row * length] = from[j];
      });
    }
  }
};

template <class T>
void launch_concat(const Concat& concat, cudaStream_t stream) {
  ConcatRows<T> kernel{.count = concat.count,
                       .rows = concat.rows,
                       .row_stride = concat.row_stride,
                       .output = static_cast<T*>(concat.output),
                       .input = {},
                       .length = {},
                       .column = {},
                       .first_block = {}};
  int64_t blocks = 0, shortest = INT64_MAX;
  for (int i = 0; i < concat.count; ++i) {
    kernel.input[i] = static_cast<const T*>(concat.input[i]);
    kernel.length[i] = concat.length[i];
    kernel.column[i] = concat.column[i];
    kernel.first_block[i] = blocks;
    blocks += blocks_for(concat.rows * concat.length[i], ConcatRows<T>::kPerBlock);
    shortest = concat.length[i] < shortest ? concat.length[i] : shortest;
  }
  kernel.first_block[concat.count] = blocks;
  if (shortest >= 128) {
    launch<ConcatRows<T>>("concat", {.blocks = blocks}, stream, kernel);
  } else {
    launch<ConcatElements<T>>("concat", {.blocks = blocks}, stream, {kernel});
  }
}

void concat(const Concat& concat, int element_bytes, cudaStream_t stream) {
  switch (element_bytes) {
    case 1:
      return launch_concat<uint8_t>(concat, stream);
    case 2:
      return launch_concat<uint16_t>(concat, stream);
    case 4:
      return launch_concat<uint32_t>(concat, stream);
    case 8:
      return launch_concat<uint64_t>(concat, stream);
    default:
      return launch_concat<Bytes16>(concat, stream);
  }
}

const ConcatKernels concat_kernels{.concat = concat};

}  // namespace anvil::kernels
