// Which types a product may combine (cuBLAS documentation, the tables of
// cublasGemmEx and cublasLtMatmul), and how it computes with them.
#pragma once

#include <cublas_api.h>

#include <cstdint>
#include <optional>

namespace anvil::simulator::blas {

// The accumulator.
enum class Arithmetic : uint8_t { kHalf, kSingle, kDouble, kInteger, kComplex, kDoubleComplex };

// What the fast modes of single precision do to A and B before multiplying.
enum class Rounding : uint8_t { kNone, kTf32, kBfloat16, kHalf };

struct Computation {
  Arithmetic arithmetic;
  Rounding rounding;
  cudaDataType scale;  // of alpha and beta
};

// Empty if the library does not multiply `operands` into `result` this way. C
// and D have one type.
std::optional<Computation> computation(cublasComputeType_t compute,
                                       cudaDataType scale,
                                       cudaDataType operands,
                                       cudaDataType result);

// The type of alpha and beta where the call does not name it.
cudaDataType scale_type(cublasComputeType_t compute, cudaDataType result);

}  // namespace anvil::simulator::blas
