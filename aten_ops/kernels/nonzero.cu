#include "aten_ops/kernels/nonzero.h"

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

using NonzeroTypes = TypeList<float,
                              double,
                              Half,
                              BFloat16,
                              bool,
                              uint8_t,
                              int8_t,
                              int16_t,
                              int32_t,
                              int64_t,
                              Complex<float>,
                              Complex<double>,
                              uint16_t,
                              uint32_t,
                              uint64_t>;

struct AddCounts {
  template <class T>
  ANVIL_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
ANVIL_DEVICE bool is_nonzero(T value) {
  if constexpr (is_complex<T>) {
    return value.real != 0 || value.imag != 0;
  } else {
    return static_cast<compute_t<T>>(value) != compute_t<T>(0);
  }
}

template <class T>
struct CountNonzero {
  Pointer<const T> input;
  int64_t n;
  Pointer<int64_t> counts;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    constexpr int64_t kPerBlock = NonzeroKernels::kPerBlock;
    for (int64_t block = team.block(); block * kPerBlock < n; block += team.blocks()) {
      const T* x = input + block * kPerBlock;
      const int64_t rest = n - block * kPerBlock;
      const int32_t count =
          team.reduce(rest < kPerBlock ? rest : kPerBlock, int32_t{0}, AddCounts{},
                      [&](int64_t i) { return static_cast<int32_t>(is_nonzero(x[i])); });
      team.once([&] { counts[block + 1] = count; });
    }
  }
};

// counts[0] = 0, counts[b] = sum of the first b blocks' counts.
struct ScanCounts {
  Pointer<int64_t> counts;
  int64_t blocks;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    team.once([&] { counts[0] = 0; });
    team.inclusive_scan(
        blocks, int64_t{0}, AddCounts{}, [&](int64_t i) { return counts[i + 1]; },
        [&](int64_t i, int64_t sum) { counts[i + 1] = sum; });
  }
};

void count(const void* input, ScalarType dtype, int64_t n, int64_t* counts, cudaStream_t stream) {
  const int64_t blocks = NonzeroKernels::blocks(n);
  dispatch(NonzeroTypes{}, dtype, "nonzero", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<CountNonzero<T>>("nonzero_count", {.blocks = blocks}, stream,
                            {static_cast<const T*>(input), n, counts});
  });
  launch<ScanCounts>("nonzero_scan", {.blocks = 1, .threads = 512}, stream, {counts, blocks});
}

// Calls store(position, elements before it that are not zero, whether it is).
template <class T, class Store>
struct ForEachNonzero {
  Pointer<const T> input;
  int64_t n;
  Pointer<const int64_t> counts;
  Store store;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    constexpr int64_t kPerBlock = NonzeroKernels::kPerBlock;
    for (int64_t block = team.block(); block * kPerBlock < n; block += team.blocks()) {
      const int64_t begin = block * kPerBlock;
      const int64_t rest = n - begin;
      const int64_t before = counts[block];
      team.inclusive_scan(
          rest < kPerBlock ? rest : kPerBlock, int32_t{0}, AddCounts{},
          [&](int64_t i) { return static_cast<int32_t>(is_nonzero(input[begin + i])); },
          [&](int64_t i, int32_t sum) {
            const bool set = is_nonzero(input[begin + i]);
            store(begin + i, before + sum - set, set);
          });
    }
  }
};

struct StoreCoordinates {
  int ndim;
  int64_t size[kMaxDims];  // outermost first
  Pointer<int64_t> output;
  int64_t stride_i, stride_d;

  ANVIL_DEVICE void operator()(int64_t position, int64_t i, bool set) const {
    if (!set) {
      return;
    }
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t quotient = divide(position, size[d]);
      output[d * stride_d + i * stride_i] = position - quotient * size[d];
      position = quotient;
    }
  }
};

struct StorePrefix {
  Pointer<int64_t> prefix;
  ANVIL_DEVICE void operator()(int64_t position, int64_t before, bool) const {
    prefix[position] = before;
  }
};

template <class Store>
void launch_for_each(const char* name,
                     const void* input,
                     ScalarType dtype,
                     int64_t n,
                     const int64_t* counts,
                     const Store& store,
                     cudaStream_t stream) {
  dispatch(NonzeroTypes{}, dtype, name, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<ForEachNonzero<T, Store>>(name, {.blocks = NonzeroKernels::blocks(n)}, stream,
                                     {static_cast<const T*>(input), n, counts, store});
  });
}

void write(const void* input,
           ScalarType dtype,
           int64_t n,
           const int64_t* counts,
           int ndim,
           const int64_t* sizes,
           int64_t* output,
           int64_t stride_i,
           int64_t stride_d,
           cudaStream_t stream) {
  StoreCoordinates store{
      .ndim = ndim, .size = {}, .output = output, .stride_i = stride_i, .stride_d = stride_d};
  for (int d = 0; d < ndim; ++d) {
    store.size[d] = sizes[d];
  }
  launch_for_each("nonzero_write", input, dtype, n, counts, store, stream);
}

void prefix(const void* input,
            ScalarType dtype,
            int64_t n,
            const int64_t* counts,
            int64_t* prefix,
            cudaStream_t stream) {
  launch_for_each("nonzero_prefix", input, dtype, n, counts, StorePrefix{prefix}, stream);
}

const NonzeroKernels nonzero_kernels{.count = count, .write = write, .prefix = prefix};

}  // namespace anvil::kernels
