#include "aten_ops/kernels/copy.h"

#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/word.h"

namespace anvil::kernels {

struct Identity {
  static constexpr bool kAllDtypes = true;
  template <class T>
  ANVIL_DEVICE T operator()(T x) const {
    return x;
  }
};

// Every dtype's values fit in one of these.
using Lossless = Types<float, double, int64_t, uint64_t, bool, Complex<float>, Complex<double>>;

void copy(const Iterator& iterator, cudaStream_t stream) {
  if (iterator.operands[0].dtype == iterator.operands[1].dtype) {
    elementwise<WordTypes>("copy", as_words(iterator), stream, Identity{});
    return;
  }
  const ScalarType source = iterator.operands[1].dtype;
  dispatch_compute_type(Lossless{}, "copy", source, [&]<class T>() {
    Iterator conversion = iterator;
    conversion.common_dtype = ScalarType::Undefined;
    launch_elementwise<T>("copy", conversion, stream, Identity{});
  });
}

const CopyKernels copy_kernels{.copy = copy};

}  // namespace anvil::kernels
