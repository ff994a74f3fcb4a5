// Elementwise operators from functors on scalars.
//
//   struct Hypot {
//     template <class T>
//     ANVIL_DEVICE T operator()(T a, T b) const { return math::sqrt(a * a + b * b); }
//   };
//   void hypot(const Iterator& iterator, cudaStream_t stream) {
//     elementwise<Floating>("hypot", iterator, stream, Hypot{});
//   }
//
// The functor sees one compute type T for all inputs: the type in the list that
// fits the iterator's common dtype. It returns T, or bool. Everything else is
// done here: conversion of operands at load and store, CPU scalars, strides,
// broadcasting, 16-byte loads on the device, vector loops on the host.
//
// An input whose dtype is not the common dtype goes through the common dtype
// first, as if it had been converted by Tensor.to; so does the result if the
// output's dtype differs. A functor with `kKeepsScalar = true` gets CPU scalars
// unrounded (arithmetic on Half with a Python number).
//
// A loop over the functor must vectorise on the host: no branches around math
// calls, select between results instead.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "aten_ops/kernels/convert.h"
#include "aten_ops/kernels/iterator.h"
#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

template <class... T>
struct Types {};

// float serves all floating types of 32 bits and less, int64_t all integers and
// bool; a type that is itself in the list is taken before these.
using Floating = Types<float, double>;
using FloatingAndComplex = Types<float, double, Complex<float>, Complex<double>>;
using Integral = Types<int64_t>;
using Real = Types<float, double, int64_t>;
// For what is moved as bits, see word.h.
using WordTypes = Types<uint8_t, int16_t, int32_t, int64_t, Complex<double>>;
using All = Types<float, double, int64_t, Complex<float>, Complex<double>>;

// Whether T is the compute type of elements of `dtype`.
template <class T>
constexpr bool computes(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e4m3fn:
    case ScalarType::Float8_e5m2fnuz:
    case ScalarType::Float8_e4m3fnuz:
      return std::is_same_v<T, float>;
    case ScalarType::Double:
    case ScalarType::ComplexFloat:
    case ScalarType::ComplexDouble:
      return scalar_type_of<T> == dtype;
    default:
      return std::is_same_v<T, int64_t>;
  }
}

// Calls f.template operator()<T>() with the compute type for `dtype`; throws if
// the list has none, with upstream's words.
template <class... T, class F>
void dispatch_compute_type(Types<T...>, const char* name, ScalarType dtype, F f) {
  bool found = false;
  auto attempt = [&]<class Candidate>(bool fits) {
    if (!found && fits) {
      found = true;
      f.template operator()<Candidate>();
    }
  };
  (attempt.template operator()<T>(scalar_type_of<T> == dtype), ...);
  (attempt.template operator()<T>(computes<T>(dtype)), ...);
  if (!found) {
    throw runtime::Error(std::string("\"") + name + "\" not implemented for '" +
                         scalar_type_name(dtype) + "'");
  }
}

template <class Op, class = void>
inline constexpr bool keeps_scalar = false;
template <class Op>
inline constexpr bool keeps_scalar<Op, std::enable_if_t<Op::kKeepsScalar>> = true;

// A functor with `kAllDtypes = true` has operands of every dtype; others only of
// those on which torch computes (is_arithmetic).
template <class Op, class = void>
inline constexpr bool all_dtypes = false;
template <class Op>
inline constexpr bool all_dtypes<Op, std::enable_if_t<Op::kAllDtypes>> = true;

// Throws unless the operator takes operands of these dtypes.
template <class Op, class T>
void check_dtypes(const char* name, const Iterator& iterator) {
  for (int k = 0; k < iterator.noperands; ++k) {
    const ScalarType dtype = iterator.operands[k].dtype;
    const bool is_output = k < iterator.noutputs;
    if (!all_dtypes<Op> &&
        !(is_arithmetic<T>(dtype) || (is_output && is_arithmetic<Complex<float>>(dtype)))) {
      throw runtime::Error(std::string("\"") + name + "\" not implemented for '" +
                           scalar_type_name(dtype) + "'");
    }
  }
}

// Number of inputs of a functor.
template <class Op, class T>
constexpr int arity() {
  if constexpr (std::is_invocable_v<Op, T>) {
    return 1;
  } else if constexpr (std::is_invocable_v<Op, T, T>) {
    return 2;
  } else if constexpr (std::is_invocable_v<Op, T, T, T>) {
    return 3;
  } else if constexpr (std::is_invocable_v<Op, T, T, T, T>) {
    return 4;
  } else {
    static_assert(std::is_invocable_v<Op>, "a functor takes 0 to 4 inputs of one type");
    return 0;
  }
}

template <class Op, class T, int kInputs>
struct Result;
template <class Op, class T>
struct Result<Op, T, 0> : std::invoke_result<Op> {};
template <class Op, class T>
struct Result<Op, T, 1> : std::invoke_result<Op, T> {};
template <class Op, class T>
struct Result<Op, T, 2> : std::invoke_result<Op, T, T> {};
template <class Op, class T>
struct Result<Op, T, 3> : std::invoke_result<Op, T, T, T> {};
template <class Op, class T>
struct Result<Op, T, 4> : std::invoke_result<Op, T, T, T, T> {};

// A CPU scalar as the functor gets it.
template <class Op, class T>
T immediate_value(const Operand& operand, ScalarType common) {
  const T value = load_as<T>(operand.dtype, operand.immediate);
  return keeps_scalar<Op> ? value : through(common, value);
}

// Enqueues op on elements of compute type T. One output.
template <class T, class Op>
void launch_elementwise(const char* name, const Iterator& iterator, cudaStream_t stream, Op op);

// As above, with the compute type found in `List`.
template <class List, class Op>
void elementwise(const char* name, const Iterator& iterator, cudaStream_t stream, Op op) {
  dispatch_compute_type(List{}, name, iterator.common_dtype, [&]<class T>() {
    check_dtypes<Op, T>(name, iterator);
    launch_elementwise<T>(name, iterator, stream, op);
  });
}

// For functors that hold values of the compute type: make.template operator()<T>().
template <class List, class Make>
void elementwise_with(const char* name, const Iterator& iterator, cudaStream_t stream, Make make) {
  dispatch_compute_type(List{}, name, iterator.common_dtype, [&]<class T>() {
    const auto op = make.template operator()<T>();
    check_dtypes<decltype(op), T>(name, iterator);
    launch_elementwise<T>(name, iterator, stream, op);
  });
}

}  // namespace anvil::kernels

#if defined(__CUDACC__) || defined(ANVIL_SIMT_CHECKER)
#include "aten_ops/kernels/elementwise_cuda.h"
#else
#include "aten_ops/kernels/elementwise_host.h"
#endif
