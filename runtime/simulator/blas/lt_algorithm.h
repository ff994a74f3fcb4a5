// The stand-in's one algorithm, as it lies in cublasLtMatmulAlgo_t.
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>

#include "runtime/simulator/blas/lt_descriptors.h"

namespace anvil::simulator::blas {

struct Algorithm {
  static constexpr uint32_t kKnown = 0x616c676f;
  // What it asks for if it may: little, but memory that must be there.
  static constexpr uint32_t kWorkspaceBytes = 4096;
  // What a GPU's algorithms read at once.
  static constexpr uint32_t kLargestAlignment = 16;

  uint32_t known = kKnown;  // what tells it from memory that nobody initialised
  uint32_t workspace_bytes = 0;
  uint8_t alignment[4] = {1, 1, 1, 1};  // of a, b, c and d, in bytes
  // Settings that change nothing here, kept to be read again.
  int32_t id = 0;
  uint32_t tile_id = 0, splitk_num = 1, reduction_scheme = 0, cta_swizzling = 0, custom_option = 0,
           stages_id = 0;
  uint16_t inner_shape_id = 0, cluster_shape_id = 0;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

// The algorithm that a search with these preferences finds.
inline Algorithm algorithm_for(const MatmulPreference& preference) {
  Algorithm algorithm;
  if (preference.max_workspace_bytes >= Algorithm::kWorkspaceBytes) {
    algorithm.workspace_bytes = Algorithm::kWorkspaceBytes;
  }
  for (int i = 0; i < 4; ++i) {
    algorithm.alignment[i] =
        static_cast<uint8_t>(std::min(preference.min_alignment[i], Algorithm::kLargestAlignment));
  }
  return algorithm;
}

}  // namespace anvil::simulator::blas
