// The SIMT machine of the checker: each thread of a block is a fiber. See
// simt.h for the contract; test/simt_checker defines the functions.
//
// What uses this is compiled with -fsanitize=thread: the compiler's calls at each
// access to memory go to the checker, not to ThreadSanitizer's own library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/scalar_type.h"

#define ANVIL_SHARED(T, name, count) \
  T* name = static_cast<T*>(::anvil::kernels::simt::static_shared<T, (count), __LINE__>())

namespace anvil::kernels::simt {

// Where a kernel calls the team, for reports.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

int thread();
int threads();
int64_t block();
int64_t blocks();
void sync_threads(Site site = Site::here());
void fence();

// One array of the block's dynamic shared memory; every thread makes the same
// calls in the same order. Arrays do not touch, so that an index past the end of
// one is found.
void* dynamic_shared(size_t offset, size_t bytes);

// The block's memory for one use of ANVIL_SHARED; `key` tells them apart.
void* static_shared_memory(const void* key, size_t bytes);
template <class T, int kCount, int kLine>
void* static_shared() {
  static const char key = 0;
  return static_shared_memory(&key, sizeof(T) * kCount);
}

// All threads of the warp exchange `bytes` bytes: what lane `from` of the warp
// gave is written to `result`.
void shuffle(const void* value, void* result, size_t bytes, int from, Site site);

template <class T>
T shuffle_xor(const T& value, int mask, Site site = Site::here()) {
  T result;
  shuffle(&value, &result, sizeof(T), (thread() % 32) ^ mask, site);
  return result;
}
template <class T>
T shuffle_up(const T& value, int delta, Site site = Site::here()) {
  T result;
  const int lane = thread() % 32;
  shuffle(&value, &result, sizeof(T), lane >= delta ? lane - delta : lane, site);
  return result;
}

// Fibers switch only at barriers and shuffles, so a plain update is atomic. What
// is accessed between these two counts as one atomic on `location`.
void begin_atomic(const void* location);
void end_atomic();

template <class T>
void atomic_add(T* p, T v) {
  begin_atomic(p);
  *p = static_cast<T>(*p + v);
  end_atomic();
}
inline unsigned atomic_increment(unsigned* p) {
  begin_atomic(p);
  const unsigned before = (*p)++;
  end_atomic();
  return before;
}
template <class T>
T compare_and_swap(T* p, T expected, T desired) {
  begin_atomic(p);
  const T found = *p;
  if (found == expected) {
    *p = desired;
  }
  end_atomic();
  return found;
}
template <class T>
T relaxed_load(const T* p) {
  begin_atomic(p);
  const T value = *p;
  end_atomic();
  return value;
}
template <class T>
void relaxed_store(T* p, T value) {
  begin_atomic(p);
  *p = value;
  end_atomic();
}

}  // namespace anvil::kernels::simt
