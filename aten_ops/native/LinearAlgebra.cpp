// Matrix products: operands into the form that library::Blas takes.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

#include "aten_ops/library/blas.h"
#include "generated/linear_algebra_native.h"

namespace anvil::native {
namespace {

using library::Activation;
using library::Gemm;
using library::Matrix;

void check_dtype(at::ScalarType dtype, const char* name) {
  switch (dtype) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
    case at::kComplexFloat:
    case at::kComplexDouble:
      return;
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "\"", name, "\" not implemented for '", dtype, "'");
  }
}

// The library reads all operands as one dtype. Upstream's words.
void check_same_dtype(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.dtype().name(),
              " != ", b.dtype().name());
}

void check_addend_dtype(const at::Tensor& self, const at::Tensor& a) {
  TORCH_CHECK(self.scalar_type() == a.scalar_type(),
              "self and mat2 must have the same dtype, but got ", self.scalar_type(), " and ",
              a.scalar_type());
}

// The last two dimensions of `tensor` as the library reads them, if it can:
// one stride is 1 and the other at least the contiguous extent. The stride of a
// dimension of one element is free, and is chosen here.
std::optional<Matrix> as_matrix(const at::Tensor& tensor) {
  const int64_t dims = tensor.dim();
  const int64_t rows = tensor.size(dims - 2), columns = tensor.size(dims - 1);
  const int64_t row_stride = tensor.stride(dims - 2), column_stride = tensor.stride(dims - 1);
  Matrix matrix{.data = const_cast<void*>(tensor.const_data_ptr()),
                .batch_stride = dims == 3 ? tensor.stride(0) : 0};
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1)) {
    matrix.row_stride = rows == 1 ? columns : row_stride;
    matrix.column_stride = 1;
    return matrix;
  }
  if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1)) {
    matrix.row_stride = 1;
    matrix.column_stride = columns == 1 ? rows : column_stride;
    return matrix;
  }
  return std::nullopt;
}

// `tensor`, or a copy of it that as_matrix() accepts, without lazy conjugation
// or negation.
at::Tensor as_operand(const at::Tensor& tensor) {
  const at::Tensor resolved = tensor.resolve_conj().resolve_neg();
  return as_matrix(resolved).has_value() ? resolved : resolved.contiguous();
}

bool is_zero(const at::Scalar& scalar) {
  return scalar.toComplexDouble() == c10::complex<double>(0);
}

void activate(const at::Tensor& values, Activation activation) {
  at::Tensor in_place = values;
  if (activation == Activation::kRelu) {
    at::relu_(in_place);
  } else if (activation == Activation::kGelu) {
    at::gelu_(in_place, "tanh");
  }
}

// out = activation(alpha * a @ b + beta * self); a and b are matrices or batches
// of them, self broadcasts to out (undefined: beta counts as 0).
void multiply(const char* name,
              const at::Tensor& self,
              const at::Tensor& a,
              const at::Tensor& b,
              const at::Scalar& beta,
              const at::Scalar& alpha,
              const at::Tensor& out,
              Activation activation = Activation::kNone) {
  check_dtype(out.scalar_type(), name);
  check_same_dtype(a, b);
  if (self.defined()) {
    check_addend_dtype(self, a);
  }
  TORCH_CHECK(out.scalar_type() == a.scalar_type(), "Expected out tensor to have dtype ",
              a.dtype().name(), ", but got ", out.dtype().name(), " instead");
  if (out.numel() == 0) {
    return;
  }
  const int64_t dims = out.dim();
  const bool reads_self = self.defined() && !is_zero(beta);
  if (a.size(dims - 1) == 0) {
    reads_self ? out.copy_(self.mul(beta)) : out.zero_();
    activate(out, activation);
    return;
  }
  // What is written must have contiguous rows.
  std::optional<Matrix> d = as_matrix(out);
  if (!d.has_value() || d->column_stride != 1 || out.is_conj() || out.is_neg()) {
    const at::Tensor rows = at::empty(out.sizes(), out.options());
    multiply(name, self, a, b, beta, alpha, rows, activation);
    out.copy_(rows);
    return;
  }

  Gemm gemm{.dtype = out.scalar_type(),
            .batch = dims == 3 ? out.size(0) : 1,
            .m = out.size(dims - 2),
            .n = out.size(dims - 1),
            .k = a.size(dims - 1),
            .alpha = alpha,
            .d = *d,
            .activation = activation};
  const at::Tensor a_operand = as_operand(a), b_operand = as_operand(b);
  gemm.a = *as_matrix(a_operand);
  gemm.b = *as_matrix(b_operand);

  at::Tensor addend;
  if (reads_self) {
    addend = self.resolve_conj().resolve_neg();
    const bool is_bias = addend.dim() == 1 && addend.size(0) == gemm.n && addend.stride(0) == 1 &&
                         beta.equal(1) && gemm.batch == 1 && !out.is_complex();
    if (is_bias) {
      gemm.bias = addend.const_data_ptr();
    } else {
      std::optional<Matrix> c;
      if (addend.sizes() == out.sizes()) {
        c = as_matrix(addend);
      }
      if (!c.has_value() || c->column_stride != 1) {
        out.copy_(addend);  // broadcasts
        c = d;
      }
      gemm.c = *c;
      gemm.beta = beta;
    }
  }
  library::blas().gemm(gemm);
}

void check_dot(const at::Tensor& self, const at::Tensor& other, const char* name) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), name,
              " : expected both vectors to have same dtype, but found ", self.scalar_type(),
              " and ", other.scalar_type());
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected tensor [",
              self.numel(), "] and src [", other.numel(),
              "] to have the same number of elements, but got ", self.numel(), " and ",
              other.numel(), " elements respectively");
}

}  // namespace

TORCH_IMPL_FUNC(mm_out)
(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out) {
  multiply("addmm", {}, self, mat2, 0, 1, out);
}

TORCH_IMPL_FUNC(addmm_out)
(const at::Tensor& self,
 const at::Tensor& mat1,
 const at::Tensor& mat2,
 const at::Scalar& beta,
 const at::Scalar& alpha,
 const at::Tensor& out) {
  multiply("addmm", self, mat1, mat2, beta, alpha, out);
}

TORCH_IMPL_FUNC(_addmm_activation_out)
(const at::Tensor& self,
 const at::Tensor& mat1,
 const at::Tensor& mat2,
 const at::Scalar& beta,
 const at::Scalar& alpha,
 bool use_gelu,
 const at::Tensor& out) {
  multiply("addmm", self, mat1, mat2, beta, alpha, out,
           use_gelu ? Activation::kGelu : Activation::kRelu);
}

TORCH_IMPL_FUNC(bmm_out)
(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& out) {
  multiply("baddbmm", {}, self, mat2, 0, 1, out);
}

TORCH_IMPL_FUNC(baddbmm_out)
(const at::Tensor& self,
 const at::Tensor& batch1,
 const at::Tensor& batch2,
 const at::Scalar& beta,
 const at::Scalar& alpha,
 const at::Tensor& out) {
  multiply("baddbmm", self, batch1, batch2, beta, alpha, out);
}

TORCH_IMPL_FUNC(addmv_out)
(const at::Tensor& self,
 const at::Tensor& mat,
 const at::Tensor& vec,
 const at::Scalar& beta,
 const at::Scalar& alpha,
 const at::Tensor& out) {
  TORCH_CHECK(mat.scalar_type() == vec.scalar_type() && mat.scalar_type() == self.scalar_type(),
              "addmv input tensors must have the same dtype, but got ", mat.scalar_type(), ", ",
              vec.scalar_type(), ", and ", self.scalar_type());
  // A vector is a matrix of one column.
  const at::Tensor addend = is_zero(beta) ? at::Tensor() : self.expand(out.sizes()).unsqueeze(1);
  multiply("addmv", addend, mat, vec.unsqueeze(1), beta, alpha, out.unsqueeze(1));
}

at::Tensor dot(const at::Tensor& self, const at::Tensor& tensor) {
  check_dot(self, tensor, "dot");
  const at::Tensor out = at::empty({}, self.options());
  multiply("dot", {}, self.unsqueeze(0), tensor.unsqueeze(1), 0, 1, out.view({1, 1}));
  return out;
}

at::Tensor vdot(const at::Tensor& self, const at::Tensor& other) {
  check_dot(self, other, "vdot");
  return native::dot(self.conj(), other);
}

}  // namespace anvil::native
