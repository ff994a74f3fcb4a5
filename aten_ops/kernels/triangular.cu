#include "aten_ops/kernels/triangular.h"

#include "aten_ops/kernels/launch.h"

namespace anvil::kernels {

struct alignas(16) ZeroableBytes16 {
  uint64_t low, high;
};

template <class T>
struct Triangle {
  Dims<2> dims;
  int64_t rows;  // of all matrices
  Pointer<T> output;
  Pointer<const T> input;
  bool upper;
  int64_t k;

  template <class Team>
  ANVIL_DEVICE void operator()(Team& team) const {
    const int64_t columns = dims.size[0];
    const int64_t to_step = dims.stride[0][0], from_step = dims.stride[1][0];
    for (int64_t row = team.block(); row < rows; row += team.blocks()) {
      const int64_t in_matrix = row - divide(row, dims.size[1]) * dims.size[1];
      T* to = output + dims.offset(0, row, 1);
      const T* from = input + dims.offset(1, row, 1);
      // The first column that is kept (upper) or dropped (lower).
      const int64_t border = upper ? in_matrix + k : in_matrix + k + 1;
      const bool is_upper = upper;
      team.for_each(columns, [=](int64_t column) {
        const bool kept = (column >= border) == is_upper;
        to[column * to_step] = kept ? from[column * from_step] : T{};
      });
    }
  }
};

template <class T>
void launch_triangle(const Dims<2>& dims,
                     void* output,
                     const void* input,
                     bool upper,
                     int64_t k,
                     cudaStream_t stream) {
  const int64_t rows = dims.numel() / dims.size[0];
  const int threads = dims.size[0] >= 256 ? 256 : dims.size[0] >= 128 ? 128 : 64;
  launch<Triangle<T>>(
      "triangle", {.blocks = blocks_for(rows, 1), .threads = threads}, stream,
      {dims, rows, static_cast<T*>(output), static_cast<const T*>(input), upper, k});
}

void triangle(const Dims<2>& dims,
              void* output,
              const void* input,
              int element_bytes,
              bool upper,
              int64_t k,
              cudaStream_t stream) {
  switch (element_bytes) {
    case 1:
      return launch_triangle<uint8_t>(dims, output, input, upper, k, stream);
    case 2:
      return launch_triangle<uint16_t>(dims, output, input, upper, k, stream);
    case 4:
      return launch_triangle<uint32_t>(dims, output, input, upper, k, stream);
    case 8:
      return launch_triangle<uint64_t>(dims, output, input, upper, k, stream);
    default:
      return launch_triangle<ZeroableBytes16>(dims, output, input, upper, k, stream);
  }
}

const TriangularKernels triangular_kernels{.triangle = triangle};

}  // namespace anvil::kernels
