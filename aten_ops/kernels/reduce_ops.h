// What reductions compute: the operators that reduce_kernel.h runs over every
// layout.
//
// An operator over values of type V (see reduce_input.h) has
//   Acc                      what it accumulates in (trivial, at most 32 bytes)
//   Acc identity()           neutral element of combine
//   Acc map(V x, int64_t i)  one element; i is its position in the reduction
//   Acc combine(Acc, Acc)    associative and commutative up to rounding
//   void store(out, i, acc, count)  writes the result of `count` elements
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/macros.h"
#include "aten_ops/kernels/pointer.h"

namespace anvil::kernels {

// The outputs of a reduction: one, or two with the same offsets.
struct ReduceOutputs {
  Pointer<void> first;
  Pointer<void> second;
  ScalarType first_dtype;
  ScalarType second_dtype;
};

// The sum, or the mean.
template <class V>
struct SumOp {
  using Acc = V;
  bool mean = false;

  ANVIL_DEVICE Acc identity() const { return Acc(0); }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return x; }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return a + b; }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t count) const {
    if (mean) {
      a = a / static_cast<RealOf<V>>(count);
    }
    store_as(out.first_dtype, out.first, i, a);
  }
};

template <class V>
struct NanSumOp : SumOp<V> {
  ANVIL_DEVICE V map(V x, int64_t) const { return is_nan(x) ? V(0) : x; }
};

template <class V>
struct ProdOp {
  using Acc = V;
  ANVIL_DEVICE Acc identity() const { return Acc(1); }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return x; }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return a * b; }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    store_as(out.first_dtype, out.first, i, a);
  }
};

// Any or all, of 0 and 1.
struct LogicOp {
  using Acc = int32_t;
  bool all;
  ANVIL_DEVICE Acc identity() const { return all ? 1 : 0; }
  ANVIL_DEVICE Acc map(int64_t x, int64_t) const { return static_cast<int32_t>(x); }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return all ? (a & b) : (a | b); }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    store_as(out.first_dtype, out.first, i, static_cast<int64_t>(a));
  }
};

// Reverses the order of V without losing a value; its own inverse. A minimum is
// the maximum of the reversed values.
template <class V>
ANVIL_DEVICE V reversed(V x) {
  if constexpr (std::is_floating_point_v<V>) {
    return -x;
  } else {
    return ~x;
  }
}

template <class V>
ANVIL_DEVICE V lowest() {
  using Limits = std::numeric_limits<V>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

// The maximum, or the minimum; NaN wins.
template <class V>
struct ExtremumOp {
  using Acc = V;
  bool minimum;
  ANVIL_DEVICE Acc identity() const { return lowest<V>(); }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return minimum ? reversed(x) : x; }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return (b > a) | is_nan(b) ? b : a; }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    store_as(out.first_dtype, out.first, i, minimum ? reversed(a) : a);
  }
};

template <class V>
struct ValueAndIndex {
  V value;
  int64_t index;
};

// The extremum and its first position; the first NaN where there is one.
template <class V>
struct IndexedExtremumOp {
  using Acc = ValueAndIndex<V>;
  bool minimum;
  ANVIL_DEVICE Acc identity() const { return {lowest<V>(), std::numeric_limits<int64_t>::max()}; }
  ANVIL_DEVICE Acc map(V x, int64_t i) const { return {minimum ? reversed(x) : x, i}; }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const {
    const bool a_nan = is_nan(a.value);
    const bool b_nan = is_nan(b.value);
    const bool tie = (a_nan && b_nan) || a.value == b.value;
    const bool take_b = tie ? b.index < a.index : !a_nan && (b_nan || b.value > a.value);
    return take_b ? b : a;
  }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    if (out.first.get() != nullptr) {
      store_as(out.first_dtype, out.first, i, minimum ? reversed(a.value) : a.value);
    }
    if (out.second.get() != nullptr) {
      static_cast<int64_t*>(out.second.get())[i] = a.index;
    }
  }
};

// The Euclidean norm.
template <class V>
struct SquareNormOp {
  using Acc = RealOf<V>;
  ANVIL_DEVICE Acc identity() const { return Acc(0); }
  ANVIL_DEVICE Acc map(V x, int64_t) const { return squared_magnitude(x); }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const { return a + b; }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    store_as(out.first_dtype, out.first, i, std::sqrt(a));
  }
};

// The other vector norms: sums of |x|^p, and the extrema of |x|.
template <class V>
struct NormOp {
  using Acc = RealOf<V>;
  Acc p;

  ANVIL_DEVICE bool is_maximum() const { return p == std::numeric_limits<Acc>::infinity(); }
  ANVIL_DEVICE bool is_minimum() const { return p == -std::numeric_limits<Acc>::infinity(); }
  ANVIL_DEVICE Acc identity() const {
    return is_minimum() ? std::numeric_limits<Acc>::infinity() : Acc(0);
  }
  ANVIL_DEVICE Acc map(V x, int64_t) const {
    const Acc size = magnitude(x);
    if (p == 0) {
      return size == 0 ? Acc(0) : Acc(1);
    }
    return p == 1 || is_maximum() || is_minimum() ? size : std::pow(size, p);
  }
  ANVIL_DEVICE Acc combine(Acc a, Acc b) const {
    if (is_maximum()) {
      return b > a || is_nan(b) ? b : a;
    }
    if (is_minimum()) {
      return b < a || is_nan(b) ? b : a;
    }
    return a + b;
  }
  ANVIL_DEVICE void store(const ReduceOutputs& out, int64_t i, Acc a, int64_t) const {
    const bool root = p != 0 && p != 1 && !is_maximum() && !is_minimum();
    store_as(out.first_dtype, out.first, i, root ? std::pow(a, Acc(1) / p) : a);
  }
};

}  // namespace anvil::kernels
