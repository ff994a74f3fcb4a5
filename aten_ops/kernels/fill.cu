#include "aten_ops/kernels/fill.h"

#include "aten_ops/kernels/elementwise.h"
#include "aten_ops/kernels/word.h"

namespace anvil::kernels {

template <class T>
struct Constant {
  static constexpr bool kAllDtypes = true;
  T value;
  ANVIL_DEVICE T operator()() const { return value; }
};

void fill(const Iterator& iterator, cudaStream_t stream) {
  const Iterator words = as_words(iterator);
  elementwise_with<WordTypes>("fill", words, stream, [&]<class T>() {
    Constant<T> op;
    std::memcpy(&op.value, iterator.operands[1].immediate, sizeof(T));
    return op;
  });
}

const FillKernels fill_kernels{.fill = fill};

}  // namespace anvil::kernels
