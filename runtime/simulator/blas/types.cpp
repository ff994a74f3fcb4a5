#include "runtime/simulator/blas/types.h"

#include "runtime/simulator/blas/element.h"

namespace anvil::simulator::blas {
namespace {

bool single_precision_combines(cudaDataType operands, cudaDataType result) {
  switch (operands) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return result == operands || result == CUDA_R_32F;
    case CUDA_R_8I:
    case CUDA_R_32F:
      return result == CUDA_R_32F;
    default:
      return false;
  }
}

std::optional<Computation> single_precision(cudaDataType scale,
                                            cudaDataType operands,
                                            cudaDataType result,
                                            Rounding rounding) {
  if (scale == CUDA_C_32F && operands == CUDA_C_32F && result == CUDA_C_32F) {
    return Computation{Arithmetic::kComplex, rounding, scale};
  }
  const bool is_fast = rounding != Rounding::kNone;
  if (scale == CUDA_R_32F && single_precision_combines(operands, result) &&
      (!is_fast || operands == CUDA_R_32F)) {
    return Computation{Arithmetic::kSingle, rounding, scale};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Computation> computation(cublasComputeType_t compute,
                                       cudaDataType scale,
                                       cudaDataType operands,
                                       cudaDataType result) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      if (scale == CUDA_R_16F && operands == CUDA_R_16F && result == CUDA_R_16F) {
        return Computation{Arithmetic::kHalf, Rounding::kNone, scale};
      }
      return std::nullopt;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (operands == CUDA_R_8I && ((scale == CUDA_R_32I && result == CUDA_R_32I) ||
                                    (scale == CUDA_R_32F && result == CUDA_R_8I))) {
        return Computation{Arithmetic::kInteger, Rounding::kNone, scale};
      }
      return std::nullopt;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return single_precision(scale, operands, result, Rounding::kNone);
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:  // as exact as single precision
      return operands == CUDA_R_32F || operands == CUDA_C_32F
                 ? single_precision(scale, operands, result, Rounding::kNone)
                 : std::nullopt;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return single_precision(scale, operands, result, Rounding::kTf32);
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return single_precision(scale, operands, result, Rounding::kBfloat16);
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return single_precision(scale, operands, result, Rounding::kHalf);
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      if (scale == operands && operands == result) {
        if (scale == CUDA_R_64F) {
          return Computation{Arithmetic::kDouble, Rounding::kNone, scale};
        }
        if (scale == CUDA_C_64F) {
          return Computation{Arithmetic::kDoubleComplex, Rounding::kNone, scale};
        }
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

cudaDataType scale_type(cublasComputeType_t compute, cudaDataType result) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return is_complex(result) ? CUDA_C_64F : CUDA_R_64F;
    default:
      return is_complex(result) ? CUDA_C_32F : CUDA_R_32F;
  }
}

}  // namespace anvil::simulator::blas
