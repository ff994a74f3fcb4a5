// Random fills with CUDA's numbers: the mapping of threads to elements and the
// draws per thread are those of PyTorch's CUDA kernels, so that a seed gives
// the same values on a device with the same number of multiprocessors.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/philox.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// A tensor to fill: dimensions innermost first, in the order in which elements
// are numbered. One dimension with stride 1 is the fast case.
struct RandomOutput {
  void* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  Dims<1> dims{};
};

// PyTorch's policy for distributions: blocks of 256 threads, as many as the
// elements need and the device holds at once; each thread draws four (64-bit
// values: two) numbers a round, which go to elements that are a whole grid
// apart.
struct RandomGrid {
  static constexpr int kThreads = 256;
  int64_t blocks = 0;

  // Elements that a thread takes per group of four draws.
  static constexpr int unroll(bool is_64_bit) { return is_64_bit ? 2 : 4; }

  static RandomGrid of(int64_t numel, int multiprocessors, int threads_per_multiprocessor) {
    const int64_t most = int64_t{multiprocessors} * (threads_per_multiprocessor / kThreads);
    const int64_t needed = (numel + kThreads - 1) / kThreads;
    return {needed < most ? needed : most};
  }
  // What the launch adds to the generator's offset.
  uint64_t offset_increment(int64_t numel, int unroll) const {
    return static_cast<uint64_t>((numel - 1) / (kThreads * blocks * unroll) + 1) * 4;
  }
};

struct RandomKernels {
  // Each fills `output` (numel > 0), with the grid for its number of elements.
  using Output = const RandomOutput&;

  // [from, to); float, double, Half, BFloat16.
  void (&uniform)(Output, RandomGrid, PhiloxState, double from, double to, cudaStream_t);
  void (&normal)(Output, RandomGrid, PhiloxState, double mean, double std, cudaStream_t);
  void (&log_normal)(Output, RandomGrid, PhiloxState, double mean, double std, cudaStream_t);
  void (&exponential)(Output, RandomGrid, PhiloxState, double lambda, cudaStream_t);
  void (&cauchy)(Output, RandomGrid, PhiloxState, double median, double sigma, cudaStream_t);
  // 1 with probability p, else 0; real types and bool.
  void (&bernoulli)(Output, RandomGrid, PhiloxState, double p, cudaStream_t);
  // Trials up to the first success; real types.
  void (&geometric)(Output, RandomGrid, PhiloxState, double p, cudaStream_t);
  // Integers base + [0, range); 64-bit draws if range is 2^28 or more. Real
  // types, unsigned ones too, and bool.
  void (&random_from_to)(
      Output, RandomGrid, PhiloxState, uint64_t range, int64_t base, cudaStream_t);
  // All 64-bit integers; int64, double, float, BFloat16.
  void (&random_full_range)(Output, RandomGrid, PhiloxState, cudaStream_t);
  // [0, largest value], or for floating types [0, 2^digits]. 64-bit draws for
  // int64 and double. Real types and bool.
  void (&random)(Output, RandomGrid, PhiloxState, cudaStream_t);
  // 1 with the probability in `p` ([numel], contiguous, as output; double for a
  // double output, else float), else 0. CUDA's other mapping: four consecutive
  // elements for a thread. A probability outside of [0, 1] fails the launch.
  void (&bernoulli_tensor)(Output, const void* p, PhiloxState, cudaStream_t);
  // Shuffles values (elements of 1, 2, 4 or 8 bytes) whose neighbours in the
  // sorted `keys` (int32 or int64) agree in the lowest `bits` bits: runs of
  // equal keys, each by one thread. Fisher, Yates; see Randperm in PyTorch.
  void (&shuffle_equal_keys)(const void* keys,
                             ScalarType key_dtype,
                             void* values,
                             int value_bytes,
                             int64_t n,
                             int bits,
                             PhiloxState,
                             cudaStream_t);
};

extern const RandomKernels random_kernels;

}  // namespace anvil::kernels
