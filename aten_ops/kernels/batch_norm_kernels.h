// The functions behind batch_norm_kernels, and how their kernels walk a channel.
#pragma once

#include "aten_ops/kernels/batch_norm.h"
#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

void batch_norm_normalize(const BatchNorm&, cudaStream_t);
void batch_norm_finish_statistics(const BatchNormStatistics&, cudaStream_t);
void batch_norm_statistics_from_running(const BatchNormStatistics&, cudaStream_t);
size_t batch_norm_backward_scratch_bytes(const BatchNormShape&);
void batch_norm_backward(const BatchNormBackward&, cudaStream_t);

// Runs an elementwise body over the whole input: Body::channel(c) gives what a
// channel's elements share, Body::element(i, shared) does one element at offset
// i. A block takes a run of positions of one channel, or, with the channels
// last, whole rows of channels.
template <class Body>
struct ForEachChannel {
  static constexpr int64_t kElementsPerBlock = 2048;
  Body body;
  BatchNormShape shape;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    if (shape.channels_last) {
      rows_of_channels(team);
    } else {
      planes(team);
    }
  }

 private:
  template <class Team>
  ANVIL_DEVICE void planes(Team& team) const {
    const int64_t runs = divide(shape.positions + kElementsPerBlock - 1, kElementsPerBlock);
    const int64_t units = shape.batch * shape.channels * runs;
    for (int64_t unit = team.block(); unit < units; unit += team.blocks()) {
      const int64_t plane = divide(unit, runs);
      const int64_t first = (unit - plane * runs) * kElementsPerBlock;
      const int64_t left = shape.positions - first;
      const int64_t base = plane * shape.positions + first;
      const auto shared = body.channel(plane - divide(plane, shape.channels) * shape.channels);
      team.for_each(left < kElementsPerBlock ? left : kElementsPerBlock,
                    [&](int64_t i) { body.element(base + i, shared); });
    }
  }

  template <class Team>
  ANVIL_DEVICE void rows_of_channels(Team& team) const {
    const int64_t rows = shape.batch * shape.positions;
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const int64_t base = row * shape.channels;
      team.for_each(shape.channels, [&](int64_t c) { body.element(base + c, body.channel(c)); });
    }
  }
};

template <class Body>
void for_each_channel(const char* name,
                      const Body& body,
                      const BatchNormShape& shape,
                      cudaStream_t stream) {
  using Kernel = ForEachChannel<Body>;
  const int64_t blocks =
      shape.channels_last
          ? shape.batch * shape.positions
          : shape.batch * shape.channels *
                ((shape.positions + Kernel::kElementsPerBlock - 1) / Kernel::kElementsPerBlock);
  const int64_t width = shape.channels_last ? shape.channels : shape.positions;
  const int threads = width <= 64 ? 64 : width <= 512 ? 128 : 256;
  launch<Kernel>(name, {.blocks = blocks, .threads = threads}, stream, {body, shape});
}

}  // namespace anvil::kernels
