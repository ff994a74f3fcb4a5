#include "aten_ops/kernels/range.h"

#include <string>

#include "aten_ops/kernels/convert.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {
namespace range {

constexpr int64_t kPerBlock = 1024;

// Integers compute in int64_t.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, compute_t<T>>;

template <class T>
struct Arange {
  Pointer<T> output;
  int64_t n;
  Wide<T> start;
  Wide<T> step;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t begin = team.block() * kPerBlock;
    T* out = output + begin;
    const Arange self = *this;
    team.for_each(n - begin < kPerBlock ? n - begin : kPerBlock, [&](int64_t i) {
      out[i] = cast<T>(self.start + self.step * static_cast<Wide<T>>(begin + i));
    });
  }
};

template <class T>
struct Linspace {
  using Step = std::conditional_t<std::is_integral_v<T>, float, Wide<T>>;
  Pointer<T> output;
  int64_t n;
  Wide<T> start;
  Wide<T> end;
  Step step;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t begin = team.block() * kPerBlock;
    T* out = output + begin;
    const Linspace self = *this;
    team.for_each(n - begin < kPerBlock ? n - begin : kPerBlock, [&](int64_t k) {
      const int64_t i = begin + k;
      const auto low = self.start + self.step * static_cast<Step>(i);
      const auto high = self.end - self.step * static_cast<Step>(self.n - i - 1);
      out[k] = cast<T>(i < self.n / 2 ? low : high);
    });
  }
};

// Calls f.template operator()<T>() with the type of `dtype`; complex ones too
// where the operator has them.
template <bool kComplex = false, class F>
void dispatch(const char* name, ScalarType dtype, F f) {
  switch (dtype) {
#define ANVIL_CASE(T, type_name, value) \
  case ScalarType::type_name:           \
    return f.template operator()<T>();
    ANVIL_FOR_EACH_ARITHMETIC_TYPE(ANVIL_CASE)
#undef ANVIL_CASE
    default:
      if constexpr (kComplex) {
        if (dtype == ScalarType::ComplexFloat) {
          return f.template operator()<Complex<float>>();
        }
        if (dtype == ScalarType::ComplexDouble) {
          return f.template operator()<Complex<double>>();
        }
      }
      throw runtime::Error(std::string("\"") + name + "\" not implemented for '" +
                           scalar_type_name(dtype) + "'");
  }
}

void arange(
    void* output, ScalarType dtype, int64_t n, Scalar start, Scalar step, cudaStream_t stream) {
  dispatch("arange", dtype, [&]<class T>() {
    launch<Arange<T>>("arange", {.blocks = blocks_for(n, kPerBlock)}, stream,
                      {static_cast<T*>(output), n, start.to<Wide<T>>(), step.to<Wide<T>>()});
  });
}

void linspace(
    void* output, ScalarType dtype, int64_t n, Scalar start, Scalar end, cudaStream_t stream) {
  dispatch<true>("linspace", dtype, [&]<class T>() {
    using Step = typename Linspace<T>::Step;
    const Wide<T> first = start.to<Wide<T>>();
    const Wide<T> last = end.to<Wide<T>>();
    const Step step =
        n > 1 ? (static_cast<Step>(last) - static_cast<Step>(first)) / static_cast<Step>(n - 1)
              : Step(0);
    launch<Linspace<T>>("linspace", {.blocks = blocks_for(n, kPerBlock)}, stream,
                        {static_cast<T*>(output), n, first, n > 1 ? last : first, step});
  });
}

}  // namespace range

const RangeKernels range_kernels{.arange = range::arange, .linspace = range::linspace};

}  // namespace anvil::kernels
