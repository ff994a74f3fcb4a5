// The cells of LSTM and GRU behind the matrix products, as compositions of our
// elementwise operators. Formulas: torch.nn.LSTMCell and torch.nn.GRUCell.
//
// A cell computes in float where its tensors are half or bfloat16. `workspace`
// is what backward needs of forward: for LSTM the four activated gates, [N, 4H],
// for GRU [N, 5H]: reset, update and new gate, hx, and the hidden part of the
// new gate before it is multiplied with the reset gate.
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

#include "generated/rnn_native.h"

namespace anvil::native {
namespace {

constexpr int64_t kLstmGates = 4;
constexpr int64_t kGruGates = 3;
constexpr int64_t kGruWorkspace = 5;

at::Tensor defined_or_none(const std::optional<at::Tensor>& tensor) {
  return tensor.value_or(at::Tensor());
}

void check_sizes(at::CheckedFrom name,
                 const at::Tensor& input_gates,
                 const at::Tensor& hidden_gates,
                 const at::Tensor& input_bias,
                 const at::Tensor& hidden_bias,
                 int64_t gates,
                 const at::Tensor& previous) {
  const at::TensorArg input{input_gates, "input_gates", 1};
  const at::TensorArg hidden{hidden_gates, "hidden_gates", 2};
  const at::TensorArg input_b{input_bias, "input_bias", 3};
  const at::TensorArg hidden_b{hidden_bias, "hidden_bias", 4};
  const at::TensorArg state{previous, "prev_hidden", 5};
  at::checkDim(name, input, 2);
  at::checkSameSize(name, input, hidden);
  TORCH_CHECK(input_bias.defined() == hidden_bias.defined(), name,
              ": expected both biases or none");
  if (input_bias.defined()) {
    at::checkDim(name, input_b, 1);
    at::checkNumel(name, input_b, input_gates.size(1));
    at::checkSameSize(name, input_b, hidden_b);
  }
  at::checkDim(name, state, 2);
  at::checkSize(name, state, {input_gates.size(0), input_gates.size(1) / gates});
  at::checkNumel(name, input, previous.numel() * gates);
  for (const at::Tensor& tensor : {hidden_gates, previous, input_bias, hidden_bias}) {
    TORCH_CHECK(!tensor.defined() || tensor.scalar_type() == input_gates.scalar_type(), name,
                ": expected all tensors of one dtype, got ", input_gates.scalar_type(), " and ",
                tensor.scalar_type());
  }
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(input_gates.scalar_type()), "\"", name,
                              "\" not implemented for '", input_gates.scalar_type(), "'");
}

// In the type that a cell computes in; an undefined tensor stays one.
at::Tensor wide(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.to(at::toOpMathType(tensor.scalar_type())) : tensor;
}

at::Tensor with_bias(const at::Tensor& gates, const at::Tensor& bias) {
  return bias.defined() ? wide(gates) + wide(bias) : wide(gates);
}

at::Tensor part(const at::Tensor& tensor, int64_t first, int64_t count, int64_t of) {
  const int64_t hidden = tensor.size(1) / of;
  return tensor.narrow(1, first * hidden, count * hidden);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> _thnn_fused_lstm_cell(
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& cx,
    const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const at::Tensor bias = defined_or_none(input_bias);
  const at::Tensor hidden_b = defined_or_none(hidden_bias);
  check_sizes("_thnn_fused_lstm_cell", input_gates, hidden_gates, bias, hidden_b, kLstmGates, cx);
  const at::Tensor gates = with_bias(input_gates, bias) + with_bias(hidden_gates, hidden_b);
  // in, forget, cell, out
  part(gates, 0, 2, kLstmGates).sigmoid_();
  part(gates, 2, 1, kLstmGates).tanh_();
  part(gates, 3, 1, kLstmGates).sigmoid_();
  const at::Tensor cy = (part(gates, 1, 1, kLstmGates) * wide(cx))
                            .addcmul_(part(gates, 0, 1, kLstmGates), part(gates, 2, 1, kLstmGates));
  const at::Tensor hy = part(gates, 3, 1, kLstmGates) * cy.tanh();
  const at::ScalarType dtype = input_gates.scalar_type();
  return {hy.to(dtype), cy.to(dtype), gates.to(dtype)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> _thnn_fused_lstm_cell_backward_impl(
    const std::optional<at::Tensor>& grad_hy_or_none,
    const std::optional<at::Tensor>& grad_cy_or_none,
    const at::Tensor& cx,
    const at::Tensor& cy,
    const at::Tensor& workspace,
    bool has_bias) {
  const at::Tensor grad_hy = defined_or_none(grad_hy_or_none);
  const at::Tensor grad_cy = defined_or_none(grad_cy_or_none);
  if (!grad_hy.defined() && !grad_cy.defined()) {
    return {};
  }
  constexpr auto name = "fused_lstm_cell_backward";
  const at::Tensor& given = grad_hy.defined() ? grad_hy : grad_cy;
  const at::TensorArg state{cx, "cx", 3};
  at::checkDim(name, state, 2);
  at::checkSize(name, at::TensorArg{given, "grad", 1}, cx.sizes());
  if (grad_cy.defined()) {
    at::checkSize(name, at::TensorArg{grad_cy, "grad_cy", 2}, cx.sizes());
  }
  at::checkSize(name, at::TensorArg{cy, "cy", 4}, cx.sizes());
  at::checkSize(name, at::TensorArg{workspace, "workspace", 5},
                {cx.size(0), cx.size(1) * kLstmGates});

  const at::Tensor gates = wide(workspace);
  const at::Tensor in = part(gates, 0, 1, kLstmGates);
  const at::Tensor forget = part(gates, 1, 1, kLstmGates);
  const at::Tensor cell = part(gates, 2, 1, kLstmGates);
  const at::Tensor out = part(gates, 3, 1, kLstmGates);
  const at::Tensor tanh_cy = at::tanh(wide(cy));
  at::Tensor grad_cell_state = wide(grad_cy);
  at::Tensor grad_out;
  if (grad_hy.defined()) {
    const at::Tensor grad = wide(grad_hy);
    grad_out = at::sigmoid_backward(grad * tanh_cy, out);
    const at::Tensor through_hy = at::tanh_backward(grad * out, tanh_cy);
    grad_cell_state = grad_cy.defined() ? grad_cell_state + through_hy : through_hy;
  } else {
    grad_out = at::zeros_like(tanh_cy);
  }
  const at::Tensor grad_gates =
      at::cat(std::vector<at::Tensor>{at::sigmoid_backward(grad_cell_state * cell, in),
                                      at::sigmoid_backward(grad_cell_state * wide(cx), forget),
                                      at::tanh_backward(grad_cell_state * in, cell), grad_out},
              1);
  const at::Tensor grad_cx = grad_cell_state * forget;
  const at::ScalarType dtype = workspace.scalar_type();
  const at::Tensor grad_bias = has_bias ? grad_gates.sum(0).to(dtype) : at::Tensor();
  return {grad_gates.to(dtype), grad_cx.to(dtype), grad_bias};
}

std::tuple<at::Tensor, at::Tensor> _thnn_fused_gru_cell(
    const at::Tensor& input_gates,
    const at::Tensor& hidden_gates,
    const at::Tensor& hx,
    const std::optional<at::Tensor>& input_bias,
    const std::optional<at::Tensor>& hidden_bias) {
  const at::Tensor bias = defined_or_none(input_bias);
  const at::Tensor hidden_b = defined_or_none(hidden_bias);
  check_sizes("_thnn_fused_gru_cell", input_gates, hidden_gates, bias, hidden_b, kGruGates, hx);
  const at::Tensor input = with_bias(input_gates, bias);
  const at::Tensor hidden = with_bias(hidden_gates, hidden_b);
  const at::Tensor state = wide(hx);
  const at::Tensor gates =
      (part(input, 0, 2, kGruGates) + part(hidden, 0, 2, kGruGates)).sigmoid_();
  const at::Tensor reset = part(gates, 0, 1, 2);
  const at::Tensor update = part(gates, 1, 1, 2);
  const at::Tensor hidden_new = part(hidden, 2, 1, kGruGates);
  const at::Tensor new_gate = at::addcmul(part(input, 2, 1, kGruGates), reset, hidden_new).tanh_();
  const at::Tensor hy = at::addcmul(new_gate, update, state - new_gate);
  const at::Tensor workspace =
      at::cat(std::vector<at::Tensor>{gates, new_gate, state, hidden_new}, 1);
  const at::ScalarType dtype = input_gates.scalar_type();
  return {hy.to(dtype), workspace.to(dtype)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
_thnn_fused_gru_cell_backward(const at::Tensor& grad_hy,
                              const at::Tensor& workspace,
                              bool has_bias) {
  constexpr auto name = "fused_gru_cell_backward";
  const at::TensorArg given{grad_hy, "grad_hy", 1};
  at::checkDim(name, given, 2);
  at::checkSize(name, at::TensorArg{workspace, "workspace", 2},
                {grad_hy.size(0), grad_hy.size(1) * kGruWorkspace});
  const at::Tensor saved = wide(workspace);
  const at::Tensor grad = wide(grad_hy);
  const at::Tensor reset = part(saved, 0, 1, kGruWorkspace);
  const at::Tensor update = part(saved, 1, 1, kGruWorkspace);
  const at::Tensor new_gate = part(saved, 2, 1, kGruWorkspace);
  const at::Tensor state = part(saved, 3, 1, kGruWorkspace);
  const at::Tensor hidden_new = part(saved, 4, 1, kGruWorkspace);
  const at::Tensor grad_hx = grad * update;
  const at::Tensor grad_new = at::tanh_backward(grad - grad_hx, new_gate);
  const at::Tensor grad_update = at::sigmoid_backward(grad * (state - new_gate), update);
  const at::Tensor grad_reset = at::sigmoid_backward(grad_new * hidden_new, reset);
  const at::Tensor grad_input_gates =
      at::cat(std::vector<at::Tensor>{grad_reset, grad_update, grad_new}, 1);
  const at::Tensor grad_hidden_gates =
      at::cat(std::vector<at::Tensor>{grad_reset, grad_update, grad_new * reset}, 1);
  const at::ScalarType dtype = workspace.scalar_type();
  at::Tensor grad_input_bias;
  at::Tensor grad_hidden_bias;
  if (has_bias) {
    grad_input_bias = grad_input_gates.sum(0).to(dtype);
    grad_hidden_bias = grad_hidden_gates.sum(0).to(dtype);
  }
  return {grad_input_gates.to(dtype), grad_hidden_gates.to(dtype), grad_hx.to(dtype),
          grad_input_bias, grad_hidden_bias};
}

}  // namespace anvil::native
