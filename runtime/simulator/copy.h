// Copies and fills in stream order, however they were asked for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace anvil::simulator {

struct Stream;

// `height` rows of `width` bytes.
struct Rectangle {
  void* to;
  const void* from;
  size_t to_pitch;
  size_t from_pitch;
  size_t width;
  size_t height;
};

// Checks the pointers, enqueues, and blocks as the table in copy.cpp says;
// `synchronous` is cudaMemcpy's row of that table.
cudaError_t copy(const Rectangle& rectangle, cudaMemcpyKind kind, Stream& stream, bool synchronous);

// The low `element` (1, 2 or 4) bytes of `value`, repeated.
struct Pattern {
  uint32_t value;
  uint32_t element;
};

// Checks the pointer and enqueues; `width` and `pitch` are in bytes.
cudaError_t fill(
    void* pointer, size_t pitch, Pattern pattern, size_t width, size_t height, Stream& stream);

}  // namespace anvil::simulator
