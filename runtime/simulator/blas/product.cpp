#include "runtime/simulator/blas/product.h"

#include <cstring>

#include "runtime/simulator/blas/accumulate.h"
#include "runtime/simulator/blas/element.h"
#include "runtime/simulator/blas/work.h"

namespace anvil::simulator::blas {
namespace {

// Sum: the accumulator. Operand: what a and b are read as. Scaled: the type of
// everything after the sum.
template <class SumType, class OperandType, class ScaledType>
struct Types {
  using Sum = SumType;
  using Operand = OperandType;
  using Scaled = ScaledType;
};

float value_of(HalfSum sum) { return sum.value; }
template <class T>
T value_of(T sum) {
  return sum;
}

float rounded(float value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTf32:
      return round_mantissa(value, 13);
    case Rounding::kBfloat16:
      return round_mantissa(value, 16);
    case Rounding::kHalf:
      return __half2float(__float2half_rn(value));
    default:
      return value;
  }
}
Complex<float> rounded(Complex<float> value, Rounding rounding) {
  return {rounded(value.re, rounding), rounded(value.im, rounding)};
}
template <class T>
T rounded(T value, Rounding) {
  return value;
}

// The first element of matrix `index` of a batch.
char* matrix_of(const Matrix& matrix, int64_t index) {
  if (matrix.batch != nullptr) {
    return static_cast<char*>(translate(matrix.batch[index]));
  }
  return matrix.data + index * matrix.batch_stride * size_of(matrix.type);
}

// One matrix of the batch.
template <class T>
class Multiplication {
  using Sum = typename T::Sum;
  using Operand = typename T::Operand;
  using Scaled = typename T::Scaled;
  using Tiles = Tile<Sum, Operand>;

 public:
  Multiplication(const Product& product, Tiles& tile) : product_(product), tile_(tile) {}

  void run(int64_t index) {
    index_ = index;
    a_ = matrix_of(product_.a, index);
    b_ = matrix_of(product_.b, index);
    d_ = matrix_of(product_.d, index);
    const Scaled beta = scale(product_.beta, 0);
    reads_c_ = product_.beta.row_stride != 0 || !(beta == Scaled(0));
    c_ = reads_c_ ? matrix_of(product_.c, index) : nullptr;
    multiplies_ = product_.alpha.row_stride != 0 || !(scale(product_.alpha, 0) == Scaled(0));
    for (int64_t column = 0; column < product_.n; column += Tiles::kColumns) {
      for (int64_t row = 0; row < product_.m; row += Tiles::kRows) {
        const int64_t rows = std::min(product_.m - row, Tiles::kRows);
        const int64_t columns = std::min(product_.n - column, Tiles::kColumns);
        sum(row, rows, column, columns);
        for (int64_t j = 0; j < columns; ++j) {
          finish(row, rows, column + j, tile_.sums(j));
        }
      }
    }
  }

 private:
  Scaled scale(const Scale& scale, int64_t row) const {
    if (scale.device == nullptr) {
      return from_parts<Scaled>(scale.re, scale.im);
    }
    const int64_t element = row * scale.row_stride + index_ * scale.batch_stride;
    Scaled value;
    access<Scaled>(scale.type).load(scale.device + element * size_of(scale.type), 1, 1, &value, 1);
    return value;
  }

  void sum(int64_t row, int64_t rows, int64_t column, int64_t columns) {
    tile_.clear();
    for (int64_t p = 0; multiplies_ && p < product_.k; p += Tiles::kDepth) {
      const int64_t depth = std::min(product_.k - p, Tiles::kDepth);
      tile_.clear_slices();
      const auto [load_a, a_stride] = reader(product_.a, product_.a.row_stride);
      for (int64_t i = 0; i < depth; ++i) {
        load_a(element(product_.a, a_, row, p + i), a_stride, rows, tile_.a(i), 1);
      }
      const auto [load_b, b_stride] = reader(product_.b, product_.b.row_stride);
      for (int64_t j = 0; j < columns; ++j) {
        load_b(element(product_.b, b_, p, column + j), b_stride, depth, tile_.b(j), 1);
      }
      prepare(tile_.a_slice(), product_.a.conjugate);
      prepare(tile_.b_slice(), product_.b.conjugate);
      tile_.accumulate(rows, columns, depth);
    }
  }

  auto reader(const Matrix& matrix, int64_t stride) {
    return std::pair(access<Operand>(matrix.type).load, stride);
  }

  void prepare(std::vector<Operand>& slice, bool conjugated) {
    const Rounding rounding = product_.computation.rounding;
    if (rounding == Rounding::kNone && !conjugated) {
      return;
    }
    for (Operand& value : slice) {
      value = rounded(conjugated ? conjugate(value) : value, rounding);
    }
  }

  static char* element(const Matrix& matrix, char* first, int64_t row, int64_t column) {
    return first + (row * matrix.row_stride + column * matrix.column_stride) * size_of(matrix.type);
  }

  // Rows [row, row + rows) of one column of d.
  void finish(int64_t row, int64_t rows, int64_t column, const Sum* sums) {
    Scaled values[Tiles::kRows], addend[Tiles::kRows];
    for (int64_t i = 0; i < rows; ++i) {
      values[i] =
          multiplies_ ? scale(product_.alpha, row + i) * Scaled(value_of(sums[i])) : Scaled(0);
    }
    if (reads_c_) {
      access<Scaled>(product_.c.type)
          .load(element(product_.c, c_, row, column), product_.c.row_stride, rows, addend, 1);
      for (int64_t i = 0; i < rows; ++i) {
        values[i] = values[i] + scale(product_.beta, row + i) * addend[i];
      }
    }
    if (product_.bias != nullptr) {
      const int64_t first = index_ * product_.bias_batch_stride + row;
      access<Scaled>(product_.bias_type)
          .load(product_.bias + first * size_of(product_.bias_type), 1, rows, addend, 1);
      for (int64_t i = 0; i < rows; ++i) {
        values[i] = values[i] + addend[i];
      }
    }
    activate(values, rows);
    access<Scaled>(product_.d.type)
        .store(element(product_.d, d_, row, column), product_.d.row_stride, rows, values);
  }

  void activate(Scaled* values, int64_t rows) {
    if constexpr (std::is_floating_point_v<Scaled>) {
      if (product_.activation == Activation::kRelu) {
        for (int64_t i = 0; i < rows; ++i) {
          values[i] = values[i] < 0 ? Scaled(0) : values[i];  // NaN stays
        }
      } else if (product_.activation == Activation::kGelu) {
        constexpr Scaled kBeta = 0.7978845608028654;  // sqrt(2 / pi)
        for (int64_t i = 0; i < rows; ++i) {
          const Scaled x = values[i];
          const Scaled inner = kBeta * (x + Scaled(0.044715) * x * x * x);
          values[i] = Scaled(0.5) * x * (1 + std::tanh(inner));
        }
      }
    }
  }

  const Product& product_;
  Tiles& tile_;
  int64_t index_ = 0;
  char *a_ = nullptr, *b_ = nullptr, *c_ = nullptr, *d_ = nullptr;
  bool reads_c_ = false, multiplies_ = false;
};

template <class T>
void multiply(const Product& product) {
  Tile<typename T::Sum, typename T::Operand> tile(product.m, product.n, product.k);
  Multiplication<T> multiplication(product, tile);
  for (int64_t index = 0; index < product.batch; ++index) {
    multiplication.run(index);
  }
}

}  // namespace

void Product::operator()() const {
  if (workspace != nullptr) {
    std::memset(workspace, 0xff, workspace_bytes);
  }
  switch (computation.arithmetic) {
    case Arithmetic::kHalf:
      return multiply<Types<HalfSum, float, float>>(*this);
    case Arithmetic::kSingle:
      return multiply<Types<float, float, float>>(*this);
    case Arithmetic::kDouble:
      return multiply<Types<double, double, double>>(*this);
    case Arithmetic::kInteger:  // a double holds every 32-bit integer
      return multiply<Types<int32_t, int32_t, double>>(*this);
    case Arithmetic::kComplex:
      return multiply<Types<Complex<float>, Complex<float>, Complex<float>>>(*this);
    case Arithmetic::kDoubleComplex:
      return multiply<Types<Complex<double>, Complex<double>, Complex<double>>>(*this);
  }
}

}  // namespace anvil::simulator::blas
