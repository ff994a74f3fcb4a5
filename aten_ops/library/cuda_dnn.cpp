// Convolutions on CUDA: cuDNN's library of convolutions (cudnn_cnn).
#include "aten_ops/library/cudnn_table.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "aten_ops/library/dnn.h"
#include "backend/Functions.h"
#include "backend/Stream.h"
#include "runtime/handle.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // see cudnn_table.h

namespace anvil::library {
namespace {

cudnnDataType_t data_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return CUDNN_DATA_FLOAT;
    case at::kDouble:
      return CUDNN_DATA_DOUBLE;
    case at::kHalf:
      return CUDNN_DATA_HALF;
    case at::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "convolution is not implemented for ", dtype);
  }
}

template <auto Destroy, class T>
struct DescriptorTraits {
  using value_type = T;
  static void destroy(T value) noexcept { (cudnn().*Destroy)(value); }
};

class TensorDescriptor
    : public runtime::Handle<
          DescriptorTraits<&Cudnn::cudnnDestroyTensorDescriptor, cudnnTensorDescriptor_t>> {
 public:
  explicit TensorDescriptor(const at::Tensor& tensor) {
    cudnnTensorDescriptor_t value = nullptr;
    ANVIL_CUDNN_CHECK(cudnnCreateTensorDescriptor, &value);
    reset(value);
    const std::vector<int> sizes(tensor.sizes().begin(), tensor.sizes().end());
    const std::vector<int> strides(tensor.strides().begin(), tensor.strides().end());
    ANVIL_CUDNN_CHECK(cudnnSetTensorNdDescriptor, value, data_type(tensor.scalar_type()),
                      static_cast<int>(sizes.size()), sizes.data(), strides.data());
  }
};

class FilterDescriptor
    : public runtime::Handle<
          DescriptorTraits<&Cudnn::cudnnDestroyFilterDescriptor, cudnnFilterDescriptor_t>> {
 public:
  explicit FilterDescriptor(const at::Tensor& weight) {
    cudnnFilterDescriptor_t value = nullptr;
    ANVIL_CUDNN_CHECK(cudnnCreateFilterDescriptor, &value);
    reset(value);
    const std::vector<int> sizes(weight.sizes().begin(), weight.sizes().end());
    const auto format = weight.is_contiguous() ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC;
    ANVIL_CUDNN_CHECK(cudnnSetFilterNdDescriptor, value, data_type(weight.scalar_type()), format,
                      static_cast<int>(sizes.size()), sizes.data());
  }
};

class ConvolutionDescriptor
    : public runtime::Handle<DescriptorTraits<&Cudnn::cudnnDestroyConvolutionDescriptor,
                                              cudnnConvolutionDescriptor_t>> {
 public:
  ConvolutionDescriptor(const Convolution& convolution, at::ScalarType dtype) {
    cudnnConvolutionDescriptor_t value = nullptr;
    ANVIL_CUDNN_CHECK(cudnnCreateConvolutionDescriptor, &value);
    reset(value);
    const std::vector<int> padding(convolution.padding.begin(), convolution.padding.end());
    const std::vector<int> stride(convolution.stride.begin(), convolution.stride.end());
    const std::vector<int> dilation(convolution.dilation.begin(), convolution.dilation.end());
    const auto compute = dtype == at::kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    ANVIL_CUDNN_CHECK(cudnnSetConvolutionNdDescriptor, value, static_cast<int>(stride.size()),
                      padding.data(), stride.data(), dilation.data(), CUDNN_CROSS_CORRELATION,
                      compute);
    ANVIL_CUDNN_CHECK(cudnnSetConvolutionGroupCount, value, static_cast<int>(convolution.groups));
    ANVIL_CUDNN_CHECK(cudnnSetConvolutionMathType, value, math_type(dtype));
  }

 private:
  static cudnnMathType_t math_type(at::ScalarType dtype) {
    if (dtype == at::kHalf || dtype == at::kBFloat16) {
      return CUDNN_TENSOR_OP_MATH;
    }
    const bool tf32 = at::globalContext().allowTF32CuDNN(at::Float32Op::CONV);
    return dtype == at::kFloat && tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  }
};

// A handle for each stream of each device, and the lock under which it is used:
// cuDNN allows one thread at a time. Never destroyed: the driver may be gone.
class Session {
 public:
  Session() : entry_(find()), lock_(entry_.mutex) {
    if (entry_.handle == nullptr) {
      ANVIL_CUDNN_CHECK(cudnnCreate, &entry_.handle);
      ANVIL_CUDNN_CHECK(cudnnSetStream, entry_.handle, getCurrentStream());
    }
  }
  cudnnHandle_t handle() const { return entry_.handle; }

 private:
  struct Entry {
    std::mutex mutex;
    cudnnHandle_t handle = nullptr;
  };
  static Entry& find() {
    static std::mutex mutex;
    static auto* entries = new std::map<std::pair<int, cudaStream_t>, Entry>;
    const std::lock_guard lock(mutex);
    return (*entries)[{current_device(), getCurrentStream()}];
  }

  Entry& entry_;
  std::lock_guard<std::mutex> lock_;
};

at::Tensor workspace_of(size_t bytes) {
  return at::empty({static_cast<int64_t>(bytes)},
                   at::TensorOptions(at::Device(kDeviceType, current_device())).dtype(at::kByte));
}

// The fastest candidate, by cuDNN's heuristics, that runs and is as
// deterministic as torch's global context asks for.
template <class Candidates>
const auto& choose(const Candidates& candidates, int count) {
  const auto& context = at::globalContext();
  const bool deterministic = context.deterministicCuDNN() || context.deterministicAlgorithms();
  for (int i = 0; i < count; ++i) {
    const auto& candidate = candidates[i];
    if (candidate.status == CUDNN_STATUS_SUCCESS &&
        (!deterministic || candidate.determinism == CUDNN_DETERMINISTIC)) {
      return candidate;
    }
  }
  TORCH_CHECK(false, "cuDNN has no ", deterministic ? "deterministic " : "",
              "algorithm for this convolution");
}

// The scaling factors are float but for double tensors.
struct Factors {
  double one_double = 1, zero_double = 0;
  float one_float = 1, zero_float = 0;
  bool is_double;

  explicit Factors(const at::Tensor& tensor) : is_double(tensor.scalar_type() == at::kDouble) {}
  const void* one() const { return is_double ? static_cast<const void*>(&one_double) : &one_float; }
  const void* zero() const {
    return is_double ? static_cast<const void*>(&zero_double) : &zero_float;
  }
};

void forward(const Convolution& convolution,
             const at::Tensor& input,
             const at::Tensor& weight,
             const at::Tensor& output) {
  const TensorDescriptor x(input), y(output);
  const FilterDescriptor w(weight);
  const ConvolutionDescriptor c(convolution, input.scalar_type());
  const Session session;
  std::array<cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> candidates;
  int count = 0;
  ANVIL_CUDNN_CHECK(cudnnGetConvolutionForwardAlgorithm_v7, session.handle(), x.get(), w.get(),
                    c.get(), y.get(), candidates.size(), &count, candidates.data());
  const auto& choice = choose(candidates, count);
  const at::Tensor workspace = workspace_of(choice.memory);
  const Factors factors(input);
  ANVIL_CUDNN_CHECK(cudnnConvolutionForward, session.handle(), factors.one(), x.get(),
                    input.const_data_ptr(), w.get(), weight.const_data_ptr(), c.get(), choice.algo,
                    workspace.data_ptr(), choice.memory, factors.zero(), y.get(),
                    output.data_ptr());
}

void backward_data(const Convolution& convolution,
                   const at::Tensor& grad_output,
                   const at::Tensor& weight,
                   const at::Tensor& grad_input) {
  const TensorDescriptor dx(grad_input), dy(grad_output);
  const FilterDescriptor w(weight);
  const ConvolutionDescriptor c(convolution, weight.scalar_type());
  const Session session;
  std::array<cudnnConvolutionBwdDataAlgoPerf_t, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT> candidates;
  int count = 0;
  ANVIL_CUDNN_CHECK(cudnnGetConvolutionBackwardDataAlgorithm_v7, session.handle(), w.get(),
                    dy.get(), c.get(), dx.get(), candidates.size(), &count, candidates.data());
  const auto& choice = choose(candidates, count);
  const at::Tensor workspace = workspace_of(choice.memory);
  const Factors factors(weight);
  ANVIL_CUDNN_CHECK(cudnnConvolutionBackwardData, session.handle(), factors.one(), w.get(),
                    weight.const_data_ptr(), dy.get(), grad_output.const_data_ptr(), c.get(),
                    choice.algo, workspace.data_ptr(), choice.memory, factors.zero(), dx.get(),
                    grad_input.data_ptr());
}

void backward_weight(const Convolution& convolution,
                     const at::Tensor& grad_output,
                     const at::Tensor& input,
                     const at::Tensor& grad_weight) {
  const TensorDescriptor x(input), dy(grad_output);
  const FilterDescriptor dw(grad_weight);
  const ConvolutionDescriptor c(convolution, input.scalar_type());
  const Session session;
  std::array<cudnnConvolutionBwdFilterAlgoPerf_t, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT>
      candidates;
  int count = 0;
  ANVIL_CUDNN_CHECK(cudnnGetConvolutionBackwardFilterAlgorithm_v7, session.handle(), x.get(),
                    dy.get(), c.get(), dw.get(), candidates.size(), &count, candidates.data());
  const auto& choice = choose(candidates, count);
  const at::Tensor workspace = workspace_of(choice.memory);
  const Factors factors(input);
  ANVIL_CUDNN_CHECK(cudnnConvolutionBackwardFilter, session.handle(), factors.one(), x.get(),
                    input.const_data_ptr(), dy.get(), grad_output.const_data_ptr(), c.get(),
                    choice.algo, workspace.data_ptr(), choice.memory, factors.zero(), dw.get(),
                    grad_weight.data_ptr());
}

// A bias as cuDNN broadcasts it: [1, channels, 1, ...].
at::Tensor channels_of(const at::Tensor& bias, int64_t dims) {
  std::vector<int64_t> sizes(dims, 1);
  sizes[1] = bias.numel();
  return bias.view(sizes);
}

// A transposed convolution is the gradient of a plain one by its input, so its
// three directions are the plain one's with input and output exchanged.
class CudnnDnn final : public Dnn {
 public:
  void convolution_forward(const Convolution& convolution,
                           const at::Tensor& input,
                           const at::Tensor& weight,
                           const at::Tensor& bias,
                           const at::Tensor& output) override {
    convolution.transposed ? backward_data(convolution, input, weight, output)
                           : forward(convolution, input, weight, output);
    if (bias.defined()) {
      const TensorDescriptor b(channels_of(bias, output.dim())), y(output);
      const Session session;
      const Factors factors(output);
      ANVIL_CUDNN_CHECK(cudnnAddTensor, session.handle(), factors.one(), b.get(),
                        bias.const_data_ptr(), factors.one(), y.get(), output.data_ptr());
    }
  }
  void convolution_backward_data(const Convolution& convolution,
                                 const at::Tensor& grad_output,
                                 const at::Tensor& weight,
                                 const at::Tensor& grad_input) override {
    convolution.transposed ? forward(convolution, grad_output, weight, grad_input)
                           : backward_data(convolution, grad_output, weight, grad_input);
  }
  void convolution_backward_weight(const Convolution& convolution,
                                   const at::Tensor& grad_output,
                                   const at::Tensor& input,
                                   const at::Tensor& grad_weight) override {
    convolution.transposed ? backward_weight(convolution, input, grad_output, grad_weight)
                           : backward_weight(convolution, grad_output, input, grad_weight);
  }
  void convolution_backward_bias(const at::Tensor& grad_output,
                                 const at::Tensor& grad_bias) override {
    const TensorDescriptor dy(grad_output), db(channels_of(grad_bias, grad_output.dim()));
    const Session session;
    const Factors factors(grad_output);
    ANVIL_CUDNN_CHECK(cudnnConvolutionBackwardBias, session.handle(), factors.one(), dy.get(),
                      grad_output.const_data_ptr(), factors.zero(), db.get(), grad_bias.data_ptr());
  }
};

}  // namespace

Dnn* make_cudnn() { return new CudnnDnn; }

}  // namespace anvil::library
