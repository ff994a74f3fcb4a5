#include "aten_ops/fallback/Arguments.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/StringUtil.h>

#include <mutex>
#include <sstream>

#include "backend/Functions.h"
#include "backend/Generator.h"

namespace anvil {

namespace {

bool is_ours(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDeviceType;
}

bool same_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.is_same(b) || (a.data_ptr() == b.data_ptr() && a.dtype() == b.dtype() &&
                          a.sizes() == b.sizes() && a.strides() == b.strides() && a.numel() > 0);
}

// A CPU generator whose numbers follow from the state of a generator of ours,
// which moves on as if it had been used.
at::Generator cpu_generator(const at::Generator& generator) {
  auto* ours = at::check_generator<GeneratorImpl>(generator);
  const std::lock_guard lock(ours->mutex_);
  const auto [seed, offset] = ours->philox_engine_inputs(4);
  return at::detail::createCPUGenerator(seed + offset);
}

}  // namespace

FallbackArguments::FallbackArguments(const c10::OperatorHandle& op, torch::jit::Stack& stack)
    : schema_(op.schema()), device_(kDeviceType, -1) {
  const size_t count = schema_.arguments().size();
  const auto arguments = torch::jit::last(stack, count);
  originals_.assign(arguments.begin(), arguments.end());

  std::optional<c10::Device> common;
  std::optional<c10::Device> asked;
  const auto add = [&](size_t index, const at::Tensor& tensor, bool may_be_on_cpu) {
    tensors_.push_back({index, tensor, {}});
    if (tensor.defined() && !(may_be_on_cpu && tensor.device().is_cpu())) {
      c10::impl::check_and_update_common_device(common, tensor, schema_.name().c_str(),
                                                schema_.arguments()[index].name().c_str());
    }
  };
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue& value = originals_[i];
    const bool is_written = schema_.arguments()[i].alias_info() != nullptr &&
                            schema_.arguments()[i].alias_info()->isWrite();
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      add(i, tensor, !is_written && tensor.defined() && tensor.dim() == 0);
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        add(i, tensor, !is_written && tensor.defined() && tensor.dim() == 0);
      }
    } else if (value.isOptionalTensorList()) {
      for (const auto& tensor : value.toOptionalTensorVector()) {
        add(i, tensor.value_or(at::Tensor()), !is_written);
      }
    } else if (value.isDevice()) {
      asked = value.toDevice();
    }
  }
  if (common.has_value() && (!asked.has_value() || asked->type() == kDeviceType)) {
    device_ = *common;
  }
  if (asked.has_value()) {
    device_ = *asked;
  }
  if (device_.type() == kDeviceType && device_.index() < -1) {
    check_device_index(device_.index());
  }
  if (device_.type() == kDeviceType && device_.index() < 0) {
    device_.set_index(current_device());
  }
}

std::string FallbackArguments::describe() const {
  std::ostringstream text;
  size_t previous = schema_.arguments().size();
  for (const TensorArgument& tensor : tensors_) {
    if (tensor.argument == previous) {
      text << "; ";
    } else {
      text << (text.tellp() == 0 ? "" : ", ") << schema_.arguments()[tensor.argument].name()
           << ": ";
    }
    previous = tensor.argument;
    if (tensor.original.defined()) {
      text << tensor.original.scalar_type() << ' ' << tensor.original.sizes();
    } else {
      text << "None";
    }
  }
  return text.tellp() == 0 ? "no tensors" : text.str();
}

const c10::AliasInfo* FallbackArguments::alias_of(const TensorArgument& tensor) const {
  return schema_.arguments()[tensor.argument].alias_info();
}

at::Tensor FallbackArguments::copy_to_cpu(const TensorArgument& tensor) {
  if (!is_ours(tensor.original)) {
    return tensor.original;
  }
  for (const TensorArgument& other : tensors_) {
    if (other.on_cpu.defined() && same_memory(other.original, tensor.original)) {
      return other.on_cpu;
    }
  }
  if (schema_.arguments()[tensor.argument].is_out()) {
    return at::empty_strided(tensor.original.sizes(), tensor.original.strides(),
                             tensor.original.options().device(at::kCPU));
  }
  stats_.bytes += tensor.original.nbytes();
  ++stats_.synchronizations;
  return tensor.original.to(at::kCPU);
}

void FallbackArguments::to_cpu(torch::jit::Stack& stack) {
  for (TensorArgument& tensor : tensors_) {
    tensor.on_cpu = copy_to_cpu(tensor);
  }
  auto arguments = stack.end() - static_cast<std::ptrdiff_t>(originals_.size());
  size_t next = 0;
  for (size_t i = 0; i < originals_.size(); ++i) {
    const c10::IValue& value = originals_[i];
    c10::IValue& replaced = arguments[static_cast<std::ptrdiff_t>(i)];
    if (value.isTensor()) {
      replaced = tensors_[next++].on_cpu;
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (size_t n = value.toTensorList().size(); n > 0; --n) {
        list.push_back(tensors_[next++].on_cpu);
      }
      replaced = std::move(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (size_t n = value.toOptionalTensorList().size(); n > 0; --n) {
        const at::Tensor& tensor = tensors_[next++].on_cpu;
        list.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
      }
      replaced = std::move(list);
    } else if (value.isDevice()) {
      replaced = c10::Device(at::kCPU);
    } else if (value.isGenerator() && value.toGenerator().device().type() == kDeviceType) {
      replaced = cpu_generator(value.toGenerator());
    }
  }
}

void FallbackArguments::write_back() {
  for (const TensorArgument& tensor : tensors_) {
    const c10::AliasInfo* alias = alias_of(tensor);
    if (alias == nullptr || !alias->isWrite() || !is_ours(tensor.original)) {
      continue;
    }
    const at::Tensor& result = tensor.on_cpu;
    if (result.sizes() != tensor.original.sizes()) {
      // The CPU's kernel has warned already if the output was not empty.
      tensor.original.resize_(result.sizes());
      if (result.is_non_overlapping_and_dense()) {
        tensor.original.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes(),
                                                                     result.strides());
      }
    }
    stats_.bytes += result.nbytes();
    tensor.original.copy_(result, /*non_blocking=*/true);
  }
}

at::Tensor FallbackArguments::copy_to_device(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.device().is_cpu() || device_.is_cpu()) {
    return tensor;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.layout() == at::kStrided && !tensor.is_quantized(), schema_.operator_name(),
      " returned a tensor of layout ", tensor.layout(), " and dtype ", tensor.scalar_type(),
      "; only dense tensors that are not quantized live on ", device_, ". Call it on CPU tensors.");
  stats_.bytes += tensor.nbytes();
  // Pageable memory is read before the call returns, so the CPU's tensor may go.
  return tensor.to(device_, /*non_blocking=*/true);
}

std::optional<c10::IValue> FallbackArguments::aliased_argument(const c10::AliasInfo& alias) const {
  for (size_t i = 0; i < originals_.size(); ++i) {
    const c10::AliasInfo* candidate = schema_.arguments()[i].alias_info();
    if (candidate != nullptr && candidate->beforeSets() == alias.beforeSets()) {
      return originals_[i];
    }
  }
  return std::nullopt;
}

void FallbackArguments::to_device(torch::jit::Stack& stack) {
  const auto& returns = schema_.returns();
  auto results = stack.end() - static_cast<std::ptrdiff_t>(returns.size());
  for (const auto& schema : returns) {
    c10::IValue& result = *results++;
    if (const c10::AliasInfo* alias = schema.alias_info(); alias != nullptr) {
      const auto argument = aliased_argument(*alias);
      TORCH_INTERNAL_ASSERT(argument.has_value(), schema_.operator_name(),
                            " returns an alias of no argument");
      result = *argument;
    } else if (result.isTensor()) {
      result = copy_to_device(result.toTensor());
    } else if (result.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : result.toTensorVector()) {
        list.push_back(copy_to_device(tensor));
      }
      result = std::move(list);
    }
  }
}

}  // namespace anvil
