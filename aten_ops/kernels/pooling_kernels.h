// The functions behind pooling_kernels, and how their kernels walk images: a
// thread for each element of one side, which gathers from the other.
#pragma once

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/pooling.h"

namespace anvil::kernels {

void max_pool(const void* input,
              void* output,
              void* indices,
              ScalarType dtype,
              const PoolShape&,
              const PoolWindow&,
              cudaStream_t);
void max_pool_backward(const void* grad_output,
                       const void* indices,
                       void* grad_input,
                       ScalarType dtype,
                       const PoolShape&,
                       const PoolWindow&,
                       cudaStream_t);
void average_pool(const void* input,
                  void* output,
                  ScalarType dtype,
                  const PoolShape&,
                  const AveragePool&,
                  cudaStream_t);
void average_pool_backward(const void* grad_output,
                           void* grad_input,
                           ScalarType dtype,
                           const PoolShape&,
                           const AveragePool&,
                           cudaStream_t);
void adaptive_average_pool(
    const void* input, void* output, ScalarType dtype, const PoolShape&, cudaStream_t);
void adaptive_average_pool_backward(
    const void* grad_output, void* grad_input, ScalarType dtype, const PoolShape&, cudaStream_t);

// One element of a set of images.
struct PoolPosition {
  int64_t offset;  // of the element
  int64_t h;
  int64_t w;
  int64_t plane;  // batch * channels + channel
};

// Element `i` of dense images with `height` x `width` positions.
ANVIL_DEVICE PoolPosition pool_position(const PoolShape& shape,
                                        int64_t i,
                                        int64_t height,
                                        int64_t width) {
  if (shape.channels_last) {
    const int64_t pixel = divide(i, shape.channels);
    const int64_t row = divide(pixel, width);
    const int64_t batch = divide(row, height);
    return {i, row - batch * height, pixel - row * width,
            batch * shape.channels + (i - pixel * shape.channels)};
  }
  const int64_t row = divide(i, width);
  const int64_t plane = divide(row, height);
  return {i, row - plane * height, i - row * width, plane};
}

// How the positions of one image plane are addressed on the other side:
// offset = base + (h * width + w) * step.
struct PoolPlane {
  int64_t base;
  int64_t step;
};
ANVIL_DEVICE PoolPlane pool_plane(const PoolShape& shape,
                                  int64_t plane,
                                  int64_t height,
                                  int64_t width) {
  if (shape.channels_last) {
    const int64_t batch = divide(plane, shape.channels);
    return {batch * height * width * shape.channels + (plane - batch * shape.channels),
            shape.channels};
  }
  return {plane * height * width, 1};
}

ANVIL_DEVICE int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
ANVIL_DEVICE int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// Runs Body::operator()(i) for each element.
template <class Body>
struct ForEachPoolElement {
  static constexpr int64_t kElementsPerBlock = 512;
  Body body;
  int64_t numel;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t first = team.block() * kElementsPerBlock; first < numel;
         first += team.blocks() * kElementsPerBlock) {
      team.for_each(at_most(numel - first, kElementsPerBlock), [&](int64_t i) { body(first + i); });
    }
  }
};

template <class Body>
void for_each_pool_element(const char* name, const Body& body, int64_t numel, cudaStream_t stream) {
  using Kernel = ForEachPoolElement<Body>;
  launch<Kernel>(name, {.blocks = blocks_for(numel, Kernel::kElementsPerBlock), .threads = 256},
                 stream, {body, numel});
}

}  // namespace anvil::kernels
