#include "aten_ops/kernels/fill.h"

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

template <class T>
struct FillContiguous {
  static constexpr int64_t kPerBlock = 4096;
  Pointer<T> output;
  int64_t n;
  T value;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t begin = team.block() * kPerBlock;
    T* out = output + begin;
    const T v = value;
    team.for_each(n - begin < kPerBlock ? n - begin : kPerBlock, [&](int64_t i) { out[i] = v; });
  }
};

void fill(const Iterator& iterator, cudaStream_t stream) {
  float value;
  memcpy(&value, iterator.operands[1].immediate, 4);
  const int64_t n = iterator.numel();
  launch<FillContiguous<float>>("fill", {.blocks = blocks_for(n, 4096)}, stream,
                                {static_cast<float*>(iterator.operands[0].data), n, value});
}

const FillKernels fill_kernels{.fill = fill};

}  // namespace anvil::kernels
