// The elementwise driver of SIMT executors.
//
// Dense operands of one dtype go through ElementwisePacked, which moves 16
// bytes at a time; everything else through ElementwiseStrided, which converts
// each element by the dtype that its operand has.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "aten_ops/kernels/divider.h"
#include "aten_ops/kernels/elementwise.h"

namespace anvil::kernels {

// The dtypes for which an operator of compute type T has a packed kernel.
template <class T>
struct PackedTypes {
  using type = Types<T>;
};
template <>
struct PackedTypes<float> {
  using type = Types<float, BFloat16, Half>;
};
// An element is a wide load as it is; a second kernel would only cost compile time.
template <class T>
struct PackedTypes<Complex<T>> {
  using type = Types<>;
};

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

// `In` is the inputs' type in memory, `Out` the output's.
template <class Op, class T, class In, class Out, int kInputs>
struct ElementwisePacked {
  static constexpr int kMaxThreads = 256;
  static constexpr int kMinBlocks = 4;  // 64 registers, 1,024 threads of a multiprocessor
  static constexpr int kThreads = 128;
  static constexpr int kPack = 16 / sizeof(In);  // elements of a load
  // Elements of a store; a result wider than its inputs takes several.
  static constexpr int kOutPack = sizeof(Out) > sizeof(In) ? 16 / sizeof(Out) : kPack;
  static constexpr int kPacks = 2;  // loads of one thread from each input
  static constexpr int64_t kPerBlock = int64_t{kThreads} * kPack * kPacks;
  static constexpr int kSlots = kInputs > 0 ? kInputs : 1;

  Op op;
  Pointer<Out> output;
  Pointer<const In> inputs[kSlots];  // null: an immediate
  T immediates[kSlots];
  int64_t numel;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    apply(team, std::make_index_sequence<kInputs>());
  }

 private:
  template <class Team, size_t... i>
  ANVIL_DEVICE void apply(Team& team, std::index_sequence<i...>) const {
    const int64_t block_begin = team.block() * kPerBlock;
    if (block_begin + kPerBlock <= numel) {
      Pack<In, kPack> packs[kPacks][kSlots];
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const int64_t begin = block_begin + (int64_t{p} * kThreads + team.thread()) * kPack;
        (load(packs[p][i], inputs[i], begin), ...);
      }
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        const int64_t begin = block_begin + (int64_t{p} * kThreads + team.thread()) * kPack;
#pragma unroll
        for (int first = 0; first < kPack; first += kOutPack) {
          Pack<Out, kOutPack> result;
#pragma unroll
          for (int e = 0; e < kOutPack; ++e) {
            result.values[e] = cast<Out>(
                op((inputs[i] ? cast<T>(packs[p][i].values[first + e]) : immediates[i])...));
          }
          *reinterpret_cast<Pack<Out, kOutPack>*>(output + begin + first) = result;
        }
      }
      return;
    }
    for (int64_t e = block_begin + team.thread(); e < numel; e += kThreads) {
      output.get()[e] = cast<Out>(op((inputs[i] ? cast<T>(inputs[i].get()[e]) : immediates[i])...));
    }
  }

  ANVIL_DEVICE static void load(Pack<In, kPack>& pack, const In* input, int64_t begin) {
    if (input) {
      pack = *reinterpret_cast<const Pack<In, kPack>*>(input + begin);
    }
  }
};

template <class Op, class T, int kInputs>
struct ElementwiseStrided {
  static constexpr int kMaxThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr int kThreads = 128;
  static constexpr int kPerThread = 4;
  static constexpr int64_t kPerBlock = int64_t{kThreads} * kPerThread;
  static constexpr int kOperands = 1 + kInputs;

  Op op;
  uint32_t numel;
  int ndim;
  Pointer<char> data[kOperands];  // null: an immediate
  ScalarType dtypes[kOperands];
  bool through_common[kOperands];
  ScalarType common;
  T immediates[kOperands];  // [0] is unused
  Divider sizes[Iterator::kMaxDims];
  uint32_t strides[Iterator::kMaxDims][kOperands];  // bytes, modulo 2^32

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int e = 0; e < kPerThread; ++e) {
      const int64_t position = team.block() * kPerBlock + int64_t{e} * kThreads + team.thread();
      if (position < numel) {
        one(static_cast<uint32_t>(position), std::make_index_sequence<kInputs>());
      }
    }
  }

 private:
  template <size_t... i>
  ANVIL_DEVICE void one(uint32_t position, std::index_sequence<i...>) const {
    uint32_t offsets[kOperands] = {};
    for (int d = 0; d < ndim; ++d) {
      const uint32_t rest = sizes[d].quotient(position);
      const uint32_t index = position - rest * sizes[d].divisor;
      position = rest;
#pragma unroll
      for (int k = 0; k < kOperands; ++k) {
        offsets[k] += index * strides[d][k];
      }
    }
    auto result = op(input<i + 1>(offsets[i + 1])...);
    if constexpr (std::is_same_v<decltype(result), T>) {
      if (through_common[0]) {
        result = through(common, result);
      }
    }
    char* address = data[0] + static_cast<int32_t>(offsets[0]);
    if constexpr (all_dtypes<Op>) {
      store_as(dtypes[0], address, result);
    } else {
      store_arithmetic(dtypes[0], address, result);
    }
  }

  template <int k>
  ANVIL_DEVICE T input(uint32_t offset) const {
    if (!data[k]) {
      return immediates[k];
    }
    const char* address = data[k] + static_cast<int32_t>(offset);
    const T value = load(dtypes[k], address);
    return through_common[k] ? through(common, value) : value;
  }

  ANVIL_DEVICE static T load(ScalarType dtype, const char* address) {
    if constexpr (all_dtypes<Op>) {
      return load_as<T>(dtype, address);
    } else {
      return load_arithmetic<T>(dtype, address);
    }
  }
};

template <class T>
bool is_aligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % alignof(T) == 0;
}

// Launches the packed kernel if the problem is dense and of type In.
template <class Op, class T, class In, int kInputs>
bool try_packed(const char* name, const Iterator& iterator, cudaStream_t stream, const Op& op) {
  using R = typename Result<Op, T, kInputs>::type;
  using Out = std::conditional_t<std::is_same_v<R, T>, In, R>;
  using Kernel = ElementwisePacked<Op, T, In, Out, kInputs>;
  Kernel kernel;
  kernel.op = op;
  if (iterator.operands[0].dtype != scalar_type_of<Out> ||
      iterator.common_dtype != scalar_type_of<In> ||
      !is_aligned<Pack<Out, Kernel::kOutPack>>(iterator.operands[0].data)) {
    return false;
  }
  kernel.output = static_cast<Out*>(iterator.operands[0].data);
  for (int i = 0; i < kInputs; ++i) {
    const Operand& operand = iterator.operands[i + 1];
    if (operand.is_immediate) {
      kernel.inputs[i] = nullptr;
      kernel.immediates[i] = immediate_value<Op, T>(operand, iterator.common_dtype);
    } else if (operand.dtype == scalar_type_of<In> &&
               is_aligned<Pack<In, Kernel::kPack>>(operand.data)) {
      kernel.inputs[i] = static_cast<const In*>(operand.data);
    } else {
      return false;
    }
  }
  kernel.numel = iterator.numel();
  launch<Kernel>(
      name, {.blocks = blocks_for(kernel.numel, Kernel::kPerBlock), .threads = Kernel::kThreads},
      stream, kernel);
  return true;
}

template <class T, class Op>
void launch_elementwise(const char* name, const Iterator& iterator, cudaStream_t stream, Op op) {
  constexpr int kInputs = arity<Op, T>();
  const int64_t numel = iterator.numel();
  if (numel == 0) {
    return;
  }
  if (iterator.is_contiguous()) {
    const bool launched = [&]<class... In>(Types<In...>) {
      return (try_packed<Op, T, In, kInputs>(name, iterator, stream, op) || ...);
    }(typename PackedTypes<T>::type{});
    if (launched) {
      return;
    }
  }
  using Kernel = ElementwiseStrided<Op, T, kInputs>;
  Kernel kernel;
  kernel.op = op;
  kernel.numel = static_cast<uint32_t>(numel);
  kernel.ndim = iterator.ndim;
  kernel.common = iterator.common_dtype;
  for (int k = 0; k <= kInputs; ++k) {
    const Operand& operand = iterator.operands[k];
    kernel.dtypes[k] = operand.dtype;
    kernel.through_common[k] =
        iterator.common_dtype != ScalarType::Undefined && operand.dtype != iterator.common_dtype;
    if (operand.is_immediate) {
      kernel.data[k] = nullptr;
      kernel.immediates[k] = immediate_value<Op, T>(operand, iterator.common_dtype);
    } else {
      kernel.data[k] = static_cast<char*>(operand.data);
    }
  }
  for (int d = 0; d < iterator.ndim; ++d) {
    kernel.sizes[d] = Divider(static_cast<uint32_t>(iterator.shape[d]));
    for (int k = 0; k <= kInputs; ++k) {
      kernel.strides[d][k] = static_cast<uint32_t>(iterator.strides[k][d]);
    }
  }
  launch<Kernel>(name,
                 {.blocks = blocks_for(numel, Kernel::kPerBlock), .threads = Kernel::kThreads},
                 stream, kernel);
}

}  // namespace anvil::kernels
