// Matrix products on the simulator: ATen's CPU kernels on the device's memory.
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>

#include "aten_ops/library/blas.h"
#include "aten_ops/library/host_call.h"

namespace anvil::library {
namespace {

HostView view(const Gemm& gemm, const Matrix& matrix, int64_t rows, int64_t columns) {
  if (gemm.batch == 1) {
    return HostView(matrix.data, gemm.dtype, {rows, columns},
                    {matrix.row_stride, matrix.column_stride});
  }
  return HostView(matrix.data, gemm.dtype, {gemm.batch, rows, columns},
                  {matrix.batch_stride, matrix.row_stride, matrix.column_stride});
}

void activate(at::Tensor& values, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      at::relu_(values);
      break;
    case Activation::kGelu:
      at::gelu_(values, "tanh");
      break;
  }
}

class SimulatorBlas final : public Blas {
 public:
  void gemm(const Gemm& gemm) override {
    const bool reads_c = gemm.beta.toComplexDouble() != c10::complex<double>(0);
    const bool plain = !reads_c && gemm.bias == nullptr && gemm.alpha.equal(1);
    const bool batched = gemm.batch > 1;
    HostView a = view(gemm, gemm.a, gemm.m, gemm.k);
    HostView b = view(gemm, gemm.b, gemm.k, gemm.n);
    HostView d = view(gemm, gemm.d, gemm.m, gemm.n);
    HostView c = reads_c ? view(gemm, gemm.c, gemm.m, gemm.n) : HostView();
    HostView bias =
        gemm.bias ? HostView(gemm.bias, gemm.dtype, {gemm.n}, {int64_t{1}}) : HostView();
    host_call("gemm", [=, alpha = gemm.alpha, beta = gemm.beta, activation = gemm.activation] {
      at::Tensor out = d.tensor();
      if (plain) {
        batched ? at::bmm_out(out, a.tensor(), b.tensor())
                : at::mm_out(out, a.tensor(), b.tensor());
      } else {
        // Of c and bias one goes into the product, the other is added after it.
        const at::Tensor addend = reads_c ? c.tensor() : bias.tensor();
        const at::Scalar scale = reads_c ? beta : at::Scalar(addend.defined() ? 1 : 0);
        const at::Tensor input = addend.defined() ? addend : out;
        batched ? at::baddbmm_out(out, input, a.tensor(), b.tensor(), scale, alpha)
                : at::addmm_out(out, input, a.tensor(), b.tensor(), scale, alpha);
        if (reads_c && bias.tensor().defined()) {
          out.add_(bias.tensor());
        }
      }
      activate(out, activation);
    });
  }
};

}  // namespace

Blas* make_simulator_blas() { return new SimulatorBlas; }

}  // namespace anvil::library
