// By squares of 8 x 8 that fit the registers; two by two of them use each cache
// line of 64 bytes whole.
#pragma once

#include "aten_ops/kernels/transpose_tile.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace anvil::kernels {

template <class T>
inline constexpr size_t kTransposeSharedBytes = 0;

// rows and columns up to 8.
template <class T>
inline void transpose_square(
    const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows, int64_t columns) {
  T square[8][8];
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      square[r][c] = in[r + c * in_stride];
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out[c + r * out_stride] = square[r][c];
    }
  }
}

#if defined(__AVX2__)
// 8 x 8 words of 32 bits: three rounds of exchanges, between neighbours, pairs
// and halves.
inline void transpose_square_avx2(const int32_t* in,
                                  int64_t in_stride,
                                  int32_t* out,
                                  int64_t out_stride) {
  __m256 a[8], b[8];
  for (int c = 0; c < 8; ++c) {
    a[c] = _mm256_loadu_ps(reinterpret_cast<const float*>(in + c * in_stride));
  }
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xEE);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20);
    b[i + 4] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
  }
  for (int r = 0; r < 8; ++r) {
    _mm256_storeu_ps(reinterpret_cast<float*>(out + r * out_stride), b[r]);
  }
}
#endif

template <class Team, class T>
inline void transpose_tile(Team&,
                           const T* in,
                           int64_t in_stride,
                           T* out,
                           int64_t out_stride,
                           int64_t rows,
                           int64_t columns) {
  for (int64_t r = 0; r < rows; r += 8) {
    for (int64_t c = 0; c < columns; c += 8) {
      const T* from = in + r + c * in_stride;
      T* to = out + c + r * out_stride;
#if defined(__AVX2__)
      if constexpr (std::is_same_v<T, int32_t>) {
        if (rows - r >= 8 && columns - c >= 8) {
          transpose_square_avx2(from, in_stride, to, out_stride);
          continue;
        }
      }
#endif
      transpose_square(from, in_stride, to, out_stride, rows - r < 8 ? rows - r : 8,
                       columns - c < 8 ? columns - c : 8);
    }
  }
}

}  // namespace anvil::kernels
