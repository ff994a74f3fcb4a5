// Half to float and back for whole buffers: the compiler vectorises c10's
// conversion only as bit arithmetic, F16C does eight in one instruction.
#pragma once

#include <cstdint>

#include "aten_ops/kernels/convert.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace anvil::kernels {

inline void load_half(float* out, const Half* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) {
    out[i] = static_cast<float>(in[i]);
  }
}

inline void store_half(Half* out, const float* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), bits);
  }
#endif
  for (; i < n; ++i) {
    out[i] = Half(in[i]);
  }
}

}  // namespace anvil::kernels
