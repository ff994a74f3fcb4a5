// The SIMT machine under nvcc. See simt.h.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/scalar_type.h"

// Shared memory of a fixed size, `name[count]`, for Team's own use.
#define ANVIL_SHARED(T, name, count)                                        \
  __shared__ __align__(16) unsigned char name##_bytes[sizeof(T) * (count)]; \
  T* name = reinterpret_cast<T*>(name##_bytes)

namespace anvil::kernels::simt {

// The checker's note of where a kernel calls the team; nothing here.
struct Site {
  ANVIL_SIMT static Site here() { return {}; }
};

ANVIL_SIMT int thread() { return static_cast<int>(threadIdx.x); }
ANVIL_SIMT int threads() { return static_cast<int>(blockDim.x); }
ANVIL_SIMT int64_t block() { return blockIdx.x; }
ANVIL_SIMT int64_t blocks() { return gridDim.x; }
ANVIL_SIMT void sync_threads(Site = {}) { __syncthreads(); }
ANVIL_SIMT void fence() { __threadfence(); }

// One array of the block's dynamic shared memory.
ANVIL_SIMT void* dynamic_shared(size_t offset, size_t) {
  extern __shared__ __align__(16) char anvil_dynamic_shared[];
  return anvil_dynamic_shared + offset;
}

// Whole-warp shuffles of any trivially copyable type, by words.
template <class T, class Word>
ANVIL_SIMT T shuffle_words(const T& value, Word word) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = word(words[i]);
  }
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}
template <class T>
ANVIL_SIMT T shuffle_xor(const T& value, int mask, Site = {}) {
  return shuffle_words(value, [=](unsigned w) { return __shfl_xor_sync(~0u, w, mask); });
}
template <class T>
ANVIL_SIMT T shuffle_up(const T& value, int delta, Site = {}) {
  return shuffle_words(value, [=](unsigned w) { return __shfl_up_sync(~0u, w, delta); });
}

ANVIL_SIMT unsigned atomic_increment(unsigned* p) { return atomicAdd(p, 1u); }

template <class T>
ANVIL_SIMT T relaxed_load(const T* p) {
  return *static_cast<const volatile T*>(p);
}

template <class T>
ANVIL_SIMT void relaxed_store(T* p, T value) {
  *static_cast<volatile T*>(p) = value;
}

// One attempt to replace `expected`; returns what was there.
ANVIL_SIMT unsigned short compare_and_swap(unsigned short* p,
                                           unsigned short expected,
                                           unsigned short desired) {
  return atomicCAS(p, expected, desired);
}
ANVIL_SIMT unsigned compare_and_swap(unsigned* p, unsigned expected, unsigned desired) {
  return atomicCAS(p, expected, desired);
}
ANVIL_SIMT unsigned long long compare_and_swap(unsigned long long* p,
                                               unsigned long long expected,
                                               unsigned long long desired) {
  return atomicCAS(p, expected, desired);
}

ANVIL_SIMT void atomic_add(float* p, float v) { atomicAdd(p, v); }
ANVIL_SIMT void atomic_add(double* p, double v) { atomicAdd(p, v); }
ANVIL_SIMT void atomic_add(int32_t* p, int32_t v) { atomicAdd(p, v); }
ANVIL_SIMT void atomic_add(int64_t* p, int64_t v) {
  atomicAdd(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(v));
}
ANVIL_SIMT void atomic_add(Half* p, Half v) {
  atomicAdd(reinterpret_cast<__half*>(p), static_cast<__half>(v));
}
ANVIL_SIMT void atomic_add(BFloat16* p, BFloat16 v) {
  atomicAdd(reinterpret_cast<__nv_bfloat16*>(p), static_cast<__nv_bfloat16>(v));
}

}  // namespace anvil::kernels::simt
