// Running reductions: a block scans a row, or, where the dimension is not the
// last one, walks a tile of neighbouring columns.
#include "aten_ops/kernels/scan.h"

#include <algorithm>
#include <limits>

#include "aten_ops/kernels/accumulate.h"
#include "aten_ops/kernels/combine.h"
#include "aten_ops/kernels/complex_math.h"
#include "aten_ops/kernels/dispatch.h"
#include "aten_ops/kernels/launch.h"
#include "aten_ops/kernels/math.h"
#include "aten_ops/kernels/pointer.h"
#include "aten_ops/kernels/reduce_ops.h"
#include "aten_ops/kernels/team.h"

namespace anvil::kernels {

// What a scan reads and writes; `indices` for extrema only.
//
// An operator has State identity(), State load(offset, position), State
// combine(State, State), associative, in order; void store(offset, State).
struct ScanTensors {
  Pointer<const void> input;
  Pointer<void> output;
  Pointer<int64_t> indices;
  ScalarType dtype;
};

// A floating element of any dtype as a double.
ANVIL_DEVICE double load_floating(ScalarType dtype, const void* data, int64_t i) {
  return dtype == ScalarType::Double ? load_as<double>(dtype, data, i)
                                     : static_cast<double>(load_as<float>(dtype, data, i));
}
template <class V>
ANVIL_DEVICE V load_scanned(const ScanTensors& tensors, int64_t i) {
  if constexpr (std::is_same_v<V, double>) {
    return load_floating(tensors.dtype, tensors.input, i);
  } else {
    return load_as<V>(tensors.dtype, tensors.input, i);
  }
}

template <class V>
struct CumsumOp {
  using State = V;
  ScanTensors tensors;
  ANVIL_DEVICE V identity() const { return V(0); }
  ANVIL_DEVICE V load(int64_t i, int64_t) const { return load_scanned<V>(tensors, i); }
  ANVIL_DEVICE V combine(V a, V b) const { return a + b; }
  ANVIL_DEVICE void store(int64_t i, V x) const { store_as(tensors.dtype, tensors.output, i, x); }
};

template <class V>
struct CumprodOp : CumsumOp<V> {
  ANVIL_DEVICE V identity() const { return V(1); }
  ANVIL_DEVICE V combine(V a, V b) const { return a * b; }
};

template <class V>
struct LogcumsumexpOp : CumsumOp<V> {
  ANVIL_DEVICE V identity() const { return V(-std::numeric_limits<double>::infinity()); }
  ANVIL_DEVICE Complex<double> combine(Complex<double> a, Complex<double> b) const {
    return math::logaddexp(a, b);
  }
  ANVIL_DEVICE double combine(double a, double b) const {
    const double larger = a > b || is_nan(a) ? a : b;
    const double smaller = a > b || is_nan(a) ? b : a;
    // Equal infinities have no difference.
    return larger == smaller && larger - smaller != 0
               ? larger
               : larger + math::log1p(math::exp(smaller - larger));
  }
};

template <class V>
struct CumulativeExtremumOp {
  using State = ValueAndIndex<V>;
  ScanTensors tensors;
  bool minimum;

  // Before every element, also of the lowest value: index -1.
  ANVIL_DEVICE State identity() const { return {lowest<V>(), -1}; }
  ANVIL_DEVICE State load(int64_t i, int64_t position) const {
    const V x = load_scanned<V>(tensors, i);
    return {minimum ? reversed(x) : x, position};
  }
  ANVIL_DEVICE State combine(State a, State b) const {
    return is_nan(b.value) || (!is_nan(a.value) && b.value >= a.value) ? b : a;
  }
  ANVIL_DEVICE void store(int64_t i, State x) const {
    store_as(tensors.dtype, tensors.output, i, minimum ? reversed(x.value) : x.value);
    tensors.indices[i] = x.index;
  }
};

template <class Op>
struct CombineStates {
  Op op;
  ANVIL_DEVICE auto operator()(typename Op::State a, typename Op::State b) const {
    return op.combine(a, b);
  }
};

template <class Op>
struct ScanRows {
  Op op;
  ScanShape shape;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    for (int64_t row = team.block(); row < shape.outer; row += team.blocks()) {
      const int64_t base = row * shape.length;
      team.inclusive_scan(
          shape.length, op.identity(), CombineStates<Op>{op},
          [&](int64_t i) { return op.load(base + i, i); },
          [&](int64_t i, typename Op::State x) { op.store(base + i, x); });
    }
  }
};

template <class Op>
struct ScanColumns {
  using State = typename Op::State;
  Op op;
  ScanShape shape;
  int64_t tile;
  int64_t tiles;  // per outer position

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    State* running = team.template shared<State>(tile);
    for (int64_t unit = team.block(); unit < shape.outer * tiles; unit += team.blocks()) {
      const int64_t outer = unit / tiles;
      const int64_t first = (unit - outer * tiles) * tile;
      const int64_t width = first + tile <= shape.inner ? tile : shape.inner - first;
      const int64_t base = outer * shape.length * shape.inner + first;
      team.for_each(width, [&](int64_t c) { running[c] = op.identity(); });
      for (int64_t d = 0; d < shape.length; ++d) {
        team.for_each(width, [&](int64_t c) {
          const int64_t i = base + d * shape.inner + c;
          running[c] = op.combine(running[c], op.load(i, d));
          op.store(i, running[c]);
        });
      }
    }
  }
};

namespace {

template <class Op>
void scan(const char* name, const Op& op, ScanShape shape, cudaStream_t stream) {
  if (shape.inner == 1) {
    const int threads = shape.length <= 128 ? 64 : shape.length <= 1024 ? 256 : 512;
    launch<ScanRows<Op>>(name, {.blocks = shape.outer, .threads = threads}, stream, {op, shape});
    return;
  }
  const int64_t tile = std::min<int64_t>(shape.inner, 128);
  const int64_t tiles = (shape.inner + tile - 1) / tile;
  launch<ScanColumns<Op>>(name,
                          {.blocks = shape.outer * tiles,
                           .threads = tile <= 32 ? 32 : 128,
                           .shared_bytes = shared_size<typename Op::State>(tile)},
                          stream, {op, shape, tile, tiles});
}

template <template <class> class Op>
void scan_arithmetic(const char* name,
                     const void* input,
                     void* output,
                     ScalarType dtype,
                     ScanShape shape,
                     cudaStream_t stream) {
  const auto run = [&](auto op) {
    op.tensors = ScanTensors{input, output, nullptr, dtype};
    scan(name, op, shape, stream);
  };
  if (is_complex_dtype(dtype)) {
    run(Op<Complex<double>>{});
  } else if (is_floating_dtype(dtype)) {
    run(Op<double>{});
  } else if (is_integral_dtype(dtype)) {
    run(Op<int64_t>{});
  } else {
    throw_not_implemented(name, dtype);
  }
}

void scan_extremum(const char* name,
                   const void* input,
                   void* values,
                   void* indices,
                   ScalarType dtype,
                   bool minimum,
                   ScanShape shape,
                   cudaStream_t stream) {
  const ScanTensors tensors{input, values, static_cast<int64_t*>(indices), dtype};
  if (is_floating_dtype(dtype)) {
    scan(name, CumulativeExtremumOp<double>{tensors, minimum}, shape, stream);
  } else if (is_integral_dtype(dtype)) {
    scan(name, CumulativeExtremumOp<int64_t>{tensors, minimum}, shape, stream);
  } else {
    throw_not_implemented(name, dtype);
  }
}

void cumsum(
    const void* input, void* output, ScalarType dtype, ScanShape shape, cudaStream_t stream) {
  scan_arithmetic<CumsumOp>("cumsum", input, output, dtype, shape, stream);
}

void cumprod(
    const void* input, void* output, ScalarType dtype, ScanShape shape, cudaStream_t stream) {
  scan_arithmetic<CumprodOp>("cumprod", input, output, dtype, shape, stream);
}

void logcumsumexp(
    const void* input, void* output, ScalarType dtype, ScanShape shape, cudaStream_t stream) {
  const ScanTensors tensors{input, output, nullptr, dtype};
  if (is_complex_dtype(dtype)) {
    scan("logcumsumexp", LogcumsumexpOp<Complex<double>>{{tensors}}, shape, stream);
  } else if (is_floating_dtype(dtype)) {
    scan("logcumsumexp", LogcumsumexpOp<double>{{tensors}}, shape, stream);
  } else {
    throw_not_implemented("logcumsumexp", dtype);
  }
}

void cummax(const void* input,
            void* values,
            void* indices,
            ScalarType dtype,
            ScanShape shape,
            cudaStream_t stream) {
  scan_extremum("cummax", input, values, indices, dtype, false, shape, stream);
}

void cummin(const void* input,
            void* values,
            void* indices,
            ScalarType dtype,
            ScanShape shape,
            cudaStream_t stream) {
  scan_extremum("cummin", input, values, indices, dtype, true, shape, stream);
}

}  // namespace

const ScanKernels scan_kernels{
    .cumsum = cumsum,
    .cumprod = cumprod,
    .logcumsumexp = logcumsumexp,
    .cummax = cummax,
    .cummin = cummin,
};

}  // namespace anvil::kernels
