// What a matmul descriptor and four layouts describe.
#pragma once

#include "runtime/simulator/blas/call.h"
#include "runtime/simulator/blas/lt_descriptors.h"
#include "runtime/simulator/blas/product.h"

namespace anvil::simulator::blas {

// Fills everything of `product` but addresses and scale factors, or returns why
// cublasLtMatmul would not run it; the reason of CUBLAS_STATUS_NOT_SUPPORTED and
// of conflicting layouts stands on stderr. A null `c` stands for `d`.
cublasStatus_t describe(const Call& call,
                        const MatmulDesc* operation,
                        const MatrixLayout* a,
                        const MatrixLayout* b,
                        const MatrixLayout* c,
                        const MatrixLayout* d,
                        Product* product);

// The product adds a bias vector.
inline bool has_bias(const MatmulDesc& operation) {
  return (operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
}

}  // namespace anvil::simulator::blas
