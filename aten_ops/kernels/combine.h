// Combining functions of team reductions and scans.
#pragma once

#include "aten_ops/kernels/accumulate.h"

namespace anvil::kernels {

struct Add {
  template <class V>
  ANVIL_DEVICE V operator()(V a, V b) const {
    return a + b;
  }
};

struct Multiply {
  template <class V>
  ANVIL_DEVICE V operator()(V a, V b) const {
    return a * b;
  }
};

// NaN wins.
struct Maximum {
  template <class V>
  ANVIL_DEVICE V operator()(V a, V b) const {
    return (b > a || is_nan(b)) ? b : a;
  }
};

// Two sums at once.
template <class V>
struct Pair {
  V first;
  V second;
};
struct AddPairs {
  template <class V>
  ANVIL_DEVICE Pair<V> operator()(Pair<V> a, Pair<V> b) const {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace anvil::kernels
