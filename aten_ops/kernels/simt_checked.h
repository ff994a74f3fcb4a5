// The SIMT machine of the checker: each thread of a block is a fiber. See
// simt.h for the contract; test/simt_checker defines the functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <typeinfo>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/scalar_type.h"

#define ANVIL_SHARED(T, name, count) \
  T* name = static_cast<T*>(::anvil::kernels::simt::static_shared<T, (count), __LINE__>())

namespace anvil::kernels::simt {

int thread();
int threads();
int64_t block();
int64_t blocks();
void sync_threads();
inline void fence() {}
char* dynamic_shared();
// The block's memory for one use of ANVIL_SHARED; `key` tells them apart.
void* static_shared_memory(const void* key, size_t bytes);

template <class T, int kCount, int kLine>
void* static_shared() {
  static const char key = 0;
  return static_shared_memory(&key, sizeof(T) * kCount);
}

// All threads of the warp exchange `bytes` bytes: what lane `from` of the warp
// gave is written to `result`.
void shuffle(const void* value, void* result, size_t bytes, int from);

template <class T>
T shuffle_xor(const T& value, int mask) {
  T result;
  shuffle(&value, &result, sizeof(T), thread() % 32 ^ mask);
  return result;
}
template <class T>
T shuffle_up(const T& value, int delta) {
  T result;
  const int lane = thread() % 32;
  shuffle(&value, &result, sizeof(T), lane >= delta ? lane - delta : lane);
  return result;
}

// Fibers switch only at barriers and shuffles, so a plain update is atomic. The
// checker does not count these accesses as races.
void begin_atomic();
void end_atomic();

template <class T>
void atomic_add(T* p, T v) {
  begin_atomic();
  *p = static_cast<T>(*p + v);
  end_atomic();
}
inline unsigned atomic_increment(unsigned* p) {
  begin_atomic();
  const unsigned before = (*p)++;
  end_atomic();
  return before;
}
template <class T>
T compare_and_swap(T* p, T expected, T desired) {
  begin_atomic();
  const T found = *p;
  if (found == expected) {
    *p = desired;
  }
  end_atomic();
  return found;
}
template <class T>
T relaxed_load(const T* p) {
  begin_atomic();
  const T value = *p;
  end_atomic();
  return value;
}

}  // namespace anvil::kernels::simt
