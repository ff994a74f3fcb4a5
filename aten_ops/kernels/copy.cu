#include "aten_ops/kernels/copy.h"

#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/transpose_tile.h"
#include "aten_ops/kernels/word.h"

namespace anvil::kernels {

struct Identity {
  static constexpr bool kAllDtypes = true;
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x;
  }
};

// Every dtype's values fit in one of these.
using Lossless = Types<float, double, int64_t, uint64_t, bool, Complex<float>, Complex<double>>;

// A copy whose output is dense along dimension 0 and whose input is dense along
// another, by tiles of the two dimensions.
template <class T>
struct TransposingCopy {
  Pointer<const T> input;
  Pointer<T> output;
  int64_t rows, columns;  // sizes of the input's and the output's dense dimension
  int64_t in_stride;      // of a column, in elements
  int64_t out_stride;     // of a row, in elements
  int64_t row_tiles, column_tiles;
  int batch_dims;  // the other dimensions
  int64_t batch_shape[Iterator::kMaxDims];
  int64_t batch_in[Iterator::kMaxDims];
  int64_t batch_out[Iterator::kMaxDims];

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    int64_t position = team.block();
    const int64_t column = position % column_tiles * kTransposeTile;
    position /= column_tiles;
    const int64_t row = position % row_tiles * kTransposeTile;
    position /= row_tiles;
    const T* in = input + row + column * in_stride;
    T* out = output + column + row * out_stride;
    for (int d = 0; d < batch_dims; ++d) {
      const int64_t index = position % batch_shape[d];
      position /= batch_shape[d];
      in += index * batch_in[d];
      out += index * batch_out[d];
    }
    transpose_tile(team, in, in_stride, out, out_stride,
                   rows - row < kTransposeTile ? rows - row : kTransposeTile,
                   columns - column < kTransposeTile ? columns - column : kTransposeTile);
  }
};

// Launches TransposingCopy if the problem is one, with sizes that are worth it.
template <class T>
bool try_transposing(const Iterator& iterator, cudaStream_t stream) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kSmallest = 16;
  if (iterator.ndim < 2 || iterator.strides[0][0] != kSize || iterator.shape[0] < kSmallest) {
    return false;
  }
  int dense = 0;
  for (int d = 1; d < iterator.ndim; ++d) {
    if (iterator.strides[1][d] == kSize && iterator.shape[d] >= kSmallest) {
      dense = d;
    }
  }
  if (dense == 0 || iterator.strides[1][0] == kSize) {
    return false;
  }
  TransposingCopy<T> kernel;
  kernel.batch_dims = 0;
  int64_t batches = 1;
  for (int d = 0; d < iterator.ndim; ++d) {
    if (iterator.strides[0][d] % kSize != 0 || iterator.strides[1][d] % kSize != 0) {
      return false;
    }
    if (d != 0 && d != dense) {
      kernel.batch_shape[kernel.batch_dims] = iterator.shape[d];
      kernel.batch_in[kernel.batch_dims] = iterator.strides[1][d] / kSize;
      kernel.batch_out[kernel.batch_dims] = iterator.strides[0][d] / kSize;
      ++kernel.batch_dims;
      batches *= iterator.shape[d];
    }
  }
  kernel.input = static_cast<const T*>(iterator.operands[1].data);
  kernel.output = static_cast<T*>(iterator.operands[0].data);
  kernel.rows = iterator.shape[dense];
  kernel.columns = iterator.shape[0];
  kernel.in_stride = iterator.strides[1][0] / kSize;
  kernel.out_stride = iterator.strides[0][dense] / kSize;
  kernel.row_tiles = blocks_for(kernel.rows, kTransposeTile);
  kernel.column_tiles = blocks_for(kernel.columns, kTransposeTile);
  launch<TransposingCopy<T>>("transposing_copy",
                             {.blocks = batches * kernel.row_tiles * kernel.column_tiles,
                              .threads = 256,
                              .shared_bytes = kTransposeSharedBytes<T>},
                             stream, kernel);
  return true;
}

void copy(const Iterator& iterator, cudaStream_t stream) {
  if (iterator.operands[0].dtype == iterator.operands[1].dtype) {
    const Iterator words = as_words(iterator);
    dispatch_compute_type(WordTypes{}, "copy", words.common_dtype, [&]<class T>() {
      if (!try_transposing<T>(words, stream)) {
        launch_elementwise<T>("copy", words, stream, Identity{});
      }
    });
    return;
  }
  const ScalarType source = iterator.operands[1].dtype;
  dispatch_compute_type(Lossless{}, "copy", source, [&]<class T>() {
    Iterator conversion = iterator;
    conversion.common_dtype = ScalarType::Undefined;
    launch_elementwise<T>("copy", conversion, stream, Identity{});
  });
}

const CopyKernels copy_kernels{.copy = copy};

}  // namespace anvil::kernels
