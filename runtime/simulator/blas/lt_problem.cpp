#include "runtime/simulator/blas/lt_problem.h"

#include <algorithm>
#include <optional>

#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/types.h"

namespace anvil::simulator::blas {
namespace {

cublasStatus_t conflict(const Call& call, const char* what) {
  report(call, "invalid value: %s", what);
  return CUBLAS_STATUS_INVALID_VALUE;
}

bool is_row_order(const MatrixLayout& layout) { return layout.order == CUBLASLT_ORDER_ROW; }

// Whether the columns, or rows, do not overlap in memory. `is_c`: its leading
// dimension may be 0, which broadcasts.
bool has_valid_leading(const MatrixLayout& layout, bool is_c) {
  const uint64_t contiguous = is_row_order(layout) ? layout.cols : layout.rows;
  return layout.ld >= static_cast<int64_t>(contiguous) || (is_c && layout.ld == 0);
}

bool is_plain(const MatrixLayout& layout) {
  return (layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW) &&
         layout.batch_mode == CUBLASLT_BATCH_MODE_STRIDED && layout.plane_offset == 0;
}

Matrix matrix_of(const MatrixLayout& layout, int32_t operation) {
  Matrix matrix;
  matrix.type = static_cast<cudaDataType>(layout.type);
  matrix.row_stride = is_row_order(layout) ? layout.ld : 1;
  matrix.column_stride = is_row_order(layout) ? 1 : layout.ld;
  matrix.batch_stride = layout.batch_count > 1 ? layout.strided_batch_offset : 0;
  if (operation != CUBLAS_OP_N) {
    std::swap(matrix.row_stride, matrix.column_stride);
  }
  matrix.conjugate = operation == CUBLAS_OP_C;
  return matrix;
}

// "To use IMMA kernels", regular data ordering.
bool is_integer_product(const MatmulDesc& operation,
                        const MatrixLayout& a,
                        const MatrixLayout& b,
                        const MatrixLayout& c,
                        const Product& product) {
  return operation.transa == CUBLAS_OP_T && operation.transb == CUBLAS_OP_N && product.m % 4 == 0 &&
         product.k % 4 == 0 && a.ld % 4 == 0 && b.ld % 4 == 0 && c.ld % 4 == 0;
}

cublasStatus_t describe_epilogue(const Call& call,
                                 const MatmulDesc& operation,
                                 const MatrixLayout& d,
                                 Product* product) {
  switch (operation.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      return CUBLAS_STATUS_SUCCESS;
    case CUBLASLT_EPILOGUE_BIAS:
      break;
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      product->activation = Activation::kRelu;
      break;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      product->activation = Activation::kGelu;
      break;
    default:
      return refuse(call, "an epilogue with an auxiliary buffer or a gradient");
  }
  // The rows of the documentation's table that say so.
  if (is_complex(product->d.type) || product->computation.arithmetic == Arithmetic::kInteger ||
      product->a.type == CUDA_R_8I) {
    return refuse(call, "an epilogue for complex and integer products");
  }
  if (is_row_order(d)) {
    return refuse(call, "an epilogue with D in CUBLASLT_ORDER_ROW");
  }
  if (has_bias(operation)) {
    product->bias_type = operation.bias_data_type < 0
                             ? product->d.type
                             : static_cast<cudaDataType>(operation.bias_data_type);
    if (product->bias_type != product->d.type) {
      return refuse(call, "a bias of another type than D's");
    }
    product->bias_batch_stride = operation.bias_batch_stride;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t describe(const Call& call,
                        const MatmulDesc* operation,
                        const MatrixLayout* a,
                        const MatrixLayout* b,
                        const MatrixLayout* c,
                        const MatrixLayout* d,
                        Product* product) {
  if (operation == nullptr || a == nullptr || b == nullptr || d == nullptr) {
    return conflict(call, "a descriptor is null");
  }
  c = c == nullptr ? d : c;
  if (!is_plain(*a) || !is_plain(*b) || !is_plain(*c) || !is_plain(*d)) {
    return refuse(call, "a tiled order, planar complex numbers or batches by pointers");
  }
  if (operation->transc != CUBLAS_OP_N || operation->fill_mode != CUBLAS_FILL_MODE_FULL) {
    return refuse(call, "a transposed C or a fill mode");
  }
  product->a = matrix_of(*a, operation->transa);
  product->b = matrix_of(*b, operation->transb);
  product->c = matrix_of(*c, CUBLAS_OP_N);
  product->d = matrix_of(*d, CUBLAS_OP_N);

  const bool plain_a = operation->transa == CUBLAS_OP_N, plain_b = operation->transb == CUBLAS_OP_N;
  product->m = static_cast<int64_t>(plain_a ? a->rows : a->cols);
  product->k = static_cast<int64_t>(plain_a ? a->cols : a->rows);
  product->n = static_cast<int64_t>(plain_b ? b->cols : b->rows);
  product->batch = d->batch_count;
  if (static_cast<int64_t>(plain_b ? b->rows : b->cols) != product->k) {
    return conflict(call, "op(A) has not as many columns as op(B) has rows");
  }
  if (c->rows != d->rows || c->cols != d->cols || c->order != d->order || c->type != d->type) {
    return conflict(call, "C and D differ in extents, order or type");
  }
  if (static_cast<int64_t>(d->rows) != product->m || static_cast<int64_t>(d->cols) != product->n) {
    return conflict(call, "D has not the extents of the product");
  }
  if (a->batch_count != product->batch || b->batch_count != product->batch ||
      c->batch_count != product->batch || product->batch < 1) {
    return conflict(call, "batch counts differ");
  }
  if (!has_valid_leading(*a, false) || !has_valid_leading(*b, false) ||
      !has_valid_leading(*c, true) || !has_valid_leading(*d, false)) {
    return conflict(call, "a leading dimension is less than the contiguous extent");
  }
  if (product->m == 0 || product->n == 0 || product->k == 0) {
    return conflict(call, "an extent is 0");
  }
  if (std::any_of(std::begin(operation->scale_pointers), std::end(operation->scale_pointers),
                  [](const void* pointer) { return pointer != nullptr; })) {
    return conflict(call, "scale pointers are for 8-bit floating point");
  }

  const std::optional<Computation> how =
      a->type == b->type ? computation(static_cast<cublasComputeType_t>(operation->compute_type),
                                       static_cast<cudaDataType>(operation->scale_type),
                                       product->a.type, product->d.type)
                         : std::nullopt;
  if (!how.has_value()) {
    return refuse(call, "this combination of types");
  }
  product->computation = *how;
  if (how->arithmetic == Arithmetic::kInteger &&
      !is_integer_product(*operation, *a, *b, *c, *product)) {
    return refuse(call, "an 8-bit integer product that is not TN with multiples of 4");
  }
  return describe_epilogue(call, *operation, *d, product);
}

}  // namespace anvil::simulator::blas
