// Matrix products by cuBLASLt (cuBLAS documentation, chapter "Using the cuBLASLt
// API"): on CUDA, and on the simulator's stand-in for it.
#include <ATen/Context.h>
#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>

#include <array>
#include <mutex>

#include "aten_ops/library/blas.h"
#include "aten_ops/library/cublaslt_table.h"
#include "backend/Functions.h"
#include "backend/Stream.h"
#include "runtime/handle.h"

namespace anvil::library {
namespace {

// What NVIDIA advises for Hopper and newer; enough for older devices.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;

#define ANVIL_CUBLASLT_OWNER(Type, value, destroy_function)                        \
  struct Type##Traits {                                                            \
    using value_type = value;                                                      \
    static void destroy(value_type v) noexcept { cublaslt().destroy_function(v); } \
  };
ANVIL_CUBLASLT_OWNER(Operation, cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy)
ANVIL_CUBLASLT_OWNER(Layout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy)
ANVIL_CUBLASLT_OWNER(Preference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy)
#undef ANVIL_CUBLASLT_OWNER

struct Types {
  cudaDataType_t data;
  cudaDataType_t scale;
  cublasComputeType_t compute;
};

Types types_of(at::ScalarType dtype) {
  const auto single =
      at::globalContext().allowTF32CuBLAS() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  switch (dtype) {
    case at::kFloat:
      return {CUDA_R_32F, CUDA_R_32F, single};
    case at::kDouble:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case at::kHalf:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case at::kBFloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case at::kComplexFloat:
      return {CUDA_C_32F, CUDA_C_32F, single};
    case at::kComplexDouble:
      return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "matrix products are not implemented for ", dtype);
  }
}

// alpha or beta in the scale type.
struct Scale {
  alignas(16) std::array<std::byte, 16> bytes;

  Scale(const at::Scalar& value, cudaDataType_t type) {
    switch (type) {
      case CUDA_R_32F:
        store(value.to<float>());
        break;
      case CUDA_R_64F:
        store(value.to<double>());
        break;
      case CUDA_C_32F:
        store(value.to<c10::complex<float>>());
        break;
      default:
        store(value.to<c10::complex<double>>());
    }
  }
  template <class T>
  void store(T value) {
    std::memcpy(bytes.data(), &value, sizeof(value));
  }
};

class Operation : public runtime::Handle<OperationTraits> {
 public:
  explicit Operation(const Types& types) {
    cublasLtMatmulDesc_t value = nullptr;
    ANVIL_CUBLAS_CHECK(cublasLtMatmulDescCreate, &value, types.compute, types.scale);
    reset(value);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    ANVIL_CUBLAS_CHECK(cublasLtMatmulDescSetAttribute, get(), attribute, &value, sizeof(value));
  }
};

// A matrix as cuBLAS reads memory: columns are contiguous.
class Layout : public runtime::Handle<LayoutTraits> {
 public:
  Layout(cudaDataType_t type,
         int64_t rows,
         int64_t columns,
         int64_t leading,
         const Gemm& gemm,
         int64_t batch_stride) {
    cublasLtMatrixLayout_t value = nullptr;
    ANVIL_CUBLAS_CHECK(cublasLtMatrixLayoutCreate, &value, type, rows, columns, leading);
    reset(value);
    if (gemm.batch > 1) {
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(gemm.batch));
      set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch_stride);
    }
  }

 private:
  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, const T& value) {
    ANVIL_CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute, get(), attribute, &value, sizeof(value));
  }
};

class Preference : public runtime::Handle<PreferenceTraits> {
 public:
  Preference() {
    cublasLtMatmulPreference_t value = nullptr;
    ANVIL_CUBLAS_CHECK(cublasLtMatmulPreferenceCreate, &value);
    reset(value);
  }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
    ANVIL_CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute, get(), attribute, &value,
                       sizeof(value));
  }
};

// The alignment that cuBLASLt may assume, in bytes.
uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  for (uint32_t bytes = 256; bytes > 1; bytes /= 2) {
    if (address % bytes == 0) {
      return bytes;
    }
  }
  return 1;
}

// One library handle for each device; cuBLASLt handles hold no stream and may
// be shared by threads. Never destroyed: the driver may be gone by then.
cublasLtHandle_t handle_of_current_device() {
  static std::mutex mutex;
  static auto* handles = new std::array<cublasLtHandle_t, 64>{};
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles->at(current_device());
  if (handle == nullptr) {
    ANVIL_CUBLAS_CHECK(cublasLtCreate, &handle);
  }
  return handle;
}

cublasLtEpilogue_t epilogue_of(const Gemm& gemm) {
  const bool bias = gemm.bias != nullptr;
  switch (gemm.activation) {
    case Activation::kRelu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

class CublasLtBlas final : public Blas {
 public:
  void gemm(const Gemm& gemm) override {
    // cuBLAS reads a row-major matrix as its transpose, so the product is
    // computed as transpose(d) = transpose(b) @ transpose(a): b comes first.
    const Types types = types_of(gemm.dtype);
    Operation operation(types);
    const bool transpose_b = gemm.b.column_stride != 1;
    const bool transpose_a = gemm.a.column_stride != 1;
    operation.set(CUBLASLT_MATMUL_DESC_TRANSA, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    operation.set(CUBLASLT_MATMUL_DESC_TRANSB, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(gemm));
    if (gemm.bias != nullptr) {
      operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, gemm.bias);
    }

    const Layout b = operand(types.data, gemm, gemm.b, gemm.k, gemm.n);
    const Layout a = operand(types.data, gemm, gemm.a, gemm.m, gemm.k);
    const Layout d = operand(types.data, gemm, gemm.d, gemm.m, gemm.n);
    const bool reads_c = gemm.beta.toComplexDouble() != c10::complex<double>(0);
    const Matrix& c_matrix = reads_c ? gemm.c : gemm.d;
    const Layout c = operand(types.data, gemm, c_matrix, gemm.m, gemm.n);

    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    // Parts of a sum are added in the type that they were computed in, never in
    // half or bfloat16.
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(gemm.b.data));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(gemm.a.data));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(c_matrix.data));
    preference.set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(gemm.d.data));

    const cublasLtHandle_t handle = handle_of_current_device();
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    ANVIL_CUBLAS_CHECK(cublasLtMatmulAlgoGetHeuristic, handle, operation.get(), b.get(), a.get(),
                       c.get(), d.get(), preference.get(), 1, &best, &found);
    TORCH_CHECK(found > 0, "cuBLASLt has no algorithm for a product of [", gemm.m, ", ", gemm.k,
                "] and [", gemm.k, ", ", gemm.n, "] in ", gemm.dtype);

    // From the caching allocator on the current stream, so that the next
    // product of this stream gets the same block and no other stream does.
    const at::Tensor workspace =
        at::empty({static_cast<int64_t>(best.workspaceSize)},
                  at::TensorOptions(at::Device(kDeviceType, current_device())).dtype(at::kByte));
    const Scale alpha(gemm.alpha, types.scale);
    const Scale beta(gemm.beta, types.scale);
    ANVIL_CUBLAS_CHECK(cublasLtMatmul, handle, operation.get(), alpha.bytes.data(), gemm.b.data,
                       b.get(), gemm.a.data, a.get(), beta.bytes.data(), c_matrix.data, c.get(),
                       gemm.d.data, d.get(), &best.algo, workspace.data_ptr(), best.workspaceSize,
                       getCurrentStream());
  }

 private:
  // The layout of a matrix [rows, columns] of ours: row-major memory is a
  // column-major [columns, rows].
  static Layout operand(
      cudaDataType_t type, const Gemm& gemm, const Matrix& matrix, int64_t rows, int64_t columns) {
    if (matrix.column_stride == 1) {
      return Layout(type, columns, rows, matrix.row_stride, gemm, matrix.batch_stride);
    }
    return Layout(type, rows, columns, matrix.column_stride, gemm, matrix.batch_stride);
  }
};

}  // namespace

Blas* make_cublaslt() { return new CublasLtBlas; }

}  // namespace anvil::library
