// Reductions over any set of dimensions: the interface between glue and kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "aten_ops/kernels/dims.h"
#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

// One reduction. Strides are in elements and not negative. There is at least
// one output and one element for each (the glue writes identities itself).
struct Reduction {
  const void* input = nullptr;
  ScalarType input_dtype;
  void* output = nullptr;  // null where the operator has two and this one isn't wanted
  ScalarType output_dtype;
  void* second = nullptr;  // second output: positions (int64), the mean beside a variance
  ScalarType second_dtype;
  // Kept dimensions, fastest in the input first; strides of input, output.
  Dims<2> kept;
  // Reduced dimensions; operators that return positions count them in this
  // order, the first fastest.
  Dims<1> reduced;
  // Device memory of scratch_bytes() bytes; contents don't matter.
  void* scratch = nullptr;
};

// All enqueue on `stream` of the current device, one kernel each (and a fill of
// the scratch memory's counters, if there are any), and return at once. Half and
// bfloat16 accumulate in float, integers and bool in int64, complex numbers in
// double. `output` has any dtype of the category (real floating, complex,
// integral and bool) that is accumulated in. Results do not depend on timing.
struct ReduceKernels {
  // Bytes of scratch memory that a launch of the reduction needs (0: none).
  size_t (&scratch_bytes)(const Reduction&);

  void (&sum)(const Reduction&, cudaStream_t);
  void (&mean)(const Reduction&, cudaStream_t);    // floating and complex
  void (&nansum)(const Reduction&, cudaStream_t);  // real floating
  void (&prod)(const Reduction&, cudaStream_t);
  // Of "is not zero"; any input; output bool or integral.
  void (&any)(const Reduction&, cudaStream_t);
  void (&all)(const Reduction&, cudaStream_t);
  // Real input; NaN wins.
  void (&max)(const Reduction&, cudaStream_t);
  void (&min)(const Reduction&, cudaStream_t);
  // The extremum in `output` and the position of its first occurrence in
  // `second`; either may be null. A NaN is the extremum.
  void (&max_with_index)(const Reduction&, cudaStream_t);
  void (&min_with_index)(const Reduction&, cudaStream_t);
  // (sum |x|^p)^(1/p), real output; the number of non-zeros for p = 0, the
  // largest and smallest magnitude for p = inf and -inf.
  void (&norm)(const Reduction&, double p, cudaStream_t);
  // Real floating input. output: sum (x - mean)^2 / max(0, count - correction),
  // or its square root; `second`: the mean, or null.
  void (&variance)(const Reduction&, double correction, bool square_root, cudaStream_t);
};

extern const ReduceKernels reduce_kernels;

}  // namespace anvil::kernels
