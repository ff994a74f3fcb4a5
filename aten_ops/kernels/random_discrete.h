// Discrete random fills; the functions of RandomKernels (random.h).
#pragma once

#include "aten_ops/kernels/random.h"

namespace anvil::kernels {

void bernoulli(const RandomOutput&, RandomGrid, PhiloxState, double p, cudaStream_t);
void geometric(const RandomOutput&, RandomGrid, PhiloxState, double p, cudaStream_t);
void random_from_to(
    const RandomOutput&, RandomGrid, PhiloxState, uint64_t range, int64_t base, cudaStream_t);
void random_full_range(const RandomOutput&, RandomGrid, PhiloxState, cudaStream_t);
void random(const RandomOutput&, RandomGrid, PhiloxState, cudaStream_t);
void bernoulli_tensor(const RandomOutput&, const void* p, PhiloxState, cudaStream_t);
void shuffle_equal_keys(const void* keys,
                        ScalarType key_dtype,
                        void* values,
                        int value_bytes,
                        int64_t n,
                        int bits,
                        PhiloxState,
                        cudaStream_t);

}  // namespace anvil::kernels
