// The arguments of one call on their way to the CPU and back.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aten_ops/fallback/Fallback.h"

namespace anvil {

// One tensor argument, or one element of a list of tensors.
struct TensorArgument {
  size_t argument;  // index in the schema
  at::Tensor original;
  at::Tensor on_cpu;  // undefined until to_cpu(), and where `original` is
};

class FallbackArguments {
 public:
  // Reads the arguments of `op` from the end of the stack. Throws the error of
  // upstream's device check if their tensors are on several devices. Tensors on
  // the CPU are allowed where CUDA's kernels allow them: without dimensions, or
  // as indices (lists of optional tensors).
  FallbackArguments(const c10::OperatorHandle& op, torch::jit::Stack& stack);

  // The device of the tensors, else the one that is asked for; results go there.
  c10::Device device() const { return device_; }

  // "self: Float [2, 3], other: Long []", for messages.
  std::string describe() const;

  // Replaces tensors, devices and generators on the stack by the CPU's. Waits
  // for the device. What is passed twice stays one tensor; pure outputs
  // (out=) are not copied.
  void to_cpu(torch::jit::Stack& stack);

  // After the call: copies what the schema says is written to the originals.
  void write_back();

  // After the call: replaces the CPU's results on the stack, by the originals
  // where they alias arguments, else by copies on device().
  void to_device(torch::jit::Stack& stack);

  // Copies that were made.
  FallbackStats stats() const { return stats_; }

 private:
  const c10::AliasInfo* alias_of(const TensorArgument& tensor) const;
  at::Tensor copy_to_cpu(const TensorArgument& tensor);
  at::Tensor copy_to_device(const at::Tensor& tensor);
  std::optional<c10::IValue> aliased_argument(const c10::AliasInfo& alias) const;

  const c10::FunctionSchema& schema_;
  c10::Device device_;
  std::vector<TensorArgument> tensors_;
  std::vector<c10::IValue> originals_;  // the arguments as they came
  FallbackStats stats_;
};

}  // namespace anvil
