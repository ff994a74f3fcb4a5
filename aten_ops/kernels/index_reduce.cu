#include "aten_ops/kernels/index_reduce.h"

#include <cstring>

#include "aten_ops/kernels/element_ops.h"
#include "aten_ops/kernels/index_walk.h"
#include "aten_ops/kernels/type_lists.h"

namespace anvil::kernels {

// *p = op(*p, value), atomic. Bytes are updated within their aligned word.
template <class Op, class Team, class T>
ANVIL_DEVICE void atomic_combine(Team& team, T* p, T value) {
  constexpr bool kAdd = std::is_same_v<Op, AddElements>;
  if constexpr (is_complex<T>) {
    static_assert(kAdd);
    auto* parts = reinterpret_cast<typename T::value_type*>(p);
    team.atomic_add(parts, 0, value.real);
    team.atomic_add(parts, 1, value.imag);
  } else if constexpr (kAdd && sizeof(T) > 1 && !std::is_same_v<T, int16_t>) {
    team.atomic_add(p, 0, value);
  } else if constexpr (sizeof(T) == 1) {
    const auto address = reinterpret_cast<uintptr_t>(p);
    const int shift = static_cast<int>(address % 4) * 8;
    auto* word = reinterpret_cast<uint32_t*>(address - address % 4);
    team.atomic_update(word, 0, [=](uint32_t bits) {
      const T old = static_cast<T>(static_cast<uint8_t>(bits >> shift));
      const auto combined = static_cast<uint8_t>(Op{}(old, value));
      return (bits & ~(0xFFu << shift)) | (static_cast<uint32_t>(combined) << shift);
    });
  } else {
    team.atomic_update(p, 0, [=](T old) { return Op{}(old, value); });
  }
}

template <class T, class Op>
struct ScatterReduce {
  static constexpr int kMaxThreads = kIndexThreads;
  DeviceIndexWalk walk;
  int64_t positions;
  bool rows;
  bool immediate;
  T value;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const char* ANVIL_RESTRICT direct = walk.direct;
    char* ANVIL_RESTRICT indexed = walk.indexed;
    const bool is_value = immediate;
    const T v = value;
    const auto combine = [=, &team](int64_t from, int64_t to) {
      atomic_combine<Op>(team, reinterpret_cast<T*>(indexed + to),
                         is_value ? v : *reinterpret_cast<const T*>(direct + from));
    };
    if (rows) {
      walk_positions<true>(team, walk, positions, combine);
    } else {
      walk_positions<false>(team, walk, positions, combine);
    }
  }
};

template <class Op, class Types>
void launch_reduce(const IndexWalk& walk, ScalarType dtype, cudaStream_t stream) {
  const DeviceIndexWalk device(walk);
  const bool rows = device.takes_rows();
  dispatch(Types{}, dtype, "scatter_reduce", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value{};
    if (walk.direct_is_immediate) {
      std::memcpy(&value, walk.immediate, sizeof(T));
    }
    launch<ScatterReduce<T, Op>>(
        "scatter_reduce", index_config(device), stream,
        {device, device.positions(rows), rows, walk.direct_is_immediate, value});
  });
}

void scatter_reduce(const IndexWalk& walk,
                    ScalarType dtype,
                    ScatterReduction reduction,
                    cudaStream_t stream) {
  switch (reduction) {
    case ScatterReduction::kAdd:
      return launch_reduce<AddElements, AllTypes>(walk, dtype, stream);
    case ScatterReduction::kMultiply:
      return launch_reduce<MultiplyElements, RealTypes>(walk, dtype, stream);
    case ScatterReduction::kMaximum:
      return launch_reduce<MaximumElements, RealTypes>(walk, dtype, stream);
    case ScatterReduction::kMinimum:
      return launch_reduce<MinimumElements, RealTypes>(walk, dtype, stream);
  }
}

}  // namespace anvil::kernels
