// The elementwise driver of the host executor.
//
// Operands are brought into chunks of the compute type that fit the first-level
// cache, by loops that are shared by all operators; what already has the
// compute type and is dense is used in place. An operator compiles to one loop
// over such chunks.
#pragma once

#include <cstring>
#include <utility>

#include "aten_ops/kernels/convert_host.h"
#include "aten_ops/kernels/elementwise.h"

namespace anvil::kernels {

struct HostOperand {
  Pointer<char> data;                       // null for an immediate
  LoadFunction load;                        // inputs
  StoreFunction store;                      // output
  ThroughFunction through;                  // null: not needed
  int32_t element_bytes;                    // in memory
  bool is_direct;                           // memory has the compute type
  alignas(16) unsigned char immediate[16];  // of the compute type
  int64_t strides[Iterator::kMaxDims];
};

// output[i] = op(inputs[0][i], ...) for i in [0, n); all of the compute type.
using ChunkFunction = void (*)(const void* op, void* output, const void* const* inputs, int64_t n);

struct HostProblem {
  int ndim;
  int ninputs;
  int32_t compute_bytes;  // of the inputs' compute type
  int32_t result_bytes;   // of the result's
  const int64_t* shape;
  const HostOperand* operands;  // output, inputs
  ChunkFunction chunk;
  const void* op;
};

// Runs the elements [begin, end), counted with dimension 0 fastest.
void run_elementwise(const HostProblem& problem, int64_t begin, int64_t end);

// Fills the members that do not depend on the compute type.
void set_host_operand(HostOperand& host, const Iterator& iterator, int index);

// Whether an operand's elements go through the common dtype.
inline bool needs_through(const Iterator& iterator, int index) {
  return iterator.common_dtype != ScalarType::Undefined &&
         iterator.operands[index].dtype != iterator.common_dtype;
}

template <class Op, class T, int kInputs>
struct ElementwiseKernel {
  static constexpr int64_t kPerBlock = 64 * 1024;
  using R = typename Result<Op, T, kInputs>::type;

  Op op;
  int ndim;
  int64_t numel;
  int64_t shape[Iterator::kMaxDims];
  HostOperand operands[1 + kInputs];

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const HostProblem problem{ndim, kInputs, sizeof(T), sizeof(R), shape, operands, &chunk, &op};
    const int64_t begin = team.block() * kPerBlock;
    run_elementwise(problem, begin, std::min(begin + kPerBlock, numel));
  }

  template <class... Input>
  static void loop(Op op, R* output, int64_t n, const Input*... inputs) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      output[i] = op(inputs[i]...);
    }
  }
  static void chunk(const void* op, void* output, const void* const* inputs, int64_t n) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      loop(*static_cast<const Op*>(op), static_cast<R*>(output), n,
           static_cast<const T*>(inputs[i])...);
    }(std::make_index_sequence<kInputs>());
  }
};

template <class T, class Op>
void launch_elementwise(const char* name, const Iterator& iterator, cudaStream_t stream, Op op) {
  constexpr int kInputs = arity<Op, T>();
  using Kernel = ElementwiseKernel<Op, T, kInputs>;
  Kernel kernel;
  kernel.op = op;
  kernel.ndim = iterator.ndim;
  kernel.numel = iterator.numel();
  if (kernel.numel == 0) {
    return;
  }
  std::memcpy(kernel.shape, iterator.shape, sizeof(int64_t) * iterator.ndim);
  using R = typename Kernel::R;
  HostOperand& output = kernel.operands[0];
  set_host_operand(output, iterator, 0);
  output.store = store_function<R>(iterator.operands[0].dtype);
  output.is_direct = iterator.operands[0].dtype == scalar_type_of<R>;
  // A result that is no T (bool) has nothing to round.
  output.through = std::is_same_v<R, T> && needs_through(iterator, 0)
                       ? through_function<T>(iterator.common_dtype)
                       : nullptr;
  for (int i = 1; i <= kInputs; ++i) {
    HostOperand& input = kernel.operands[i];
    set_host_operand(input, iterator, i);
    if (iterator.operands[i].is_immediate) {
      const T value = immediate_value<Op, T>(iterator.operands[i], iterator.common_dtype);
      std::memcpy(input.immediate, &value, sizeof(T));
      continue;
    }
    input.load = load_function<T>(iterator.operands[i].dtype);
    input.is_direct = iterator.operands[i].dtype == scalar_type_of<T>;
    input.through =
        needs_through(iterator, i) ? through_function<T>(iterator.common_dtype) : nullptr;
  }
  launch<Kernel>(name, {.blocks = blocks_for(kernel.numel, Kernel::kPerBlock)}, stream, kernel);
}

}  // namespace anvil::kernels
