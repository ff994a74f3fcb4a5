// A number that an operator takes beside its tensors, as c10::Scalar is one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "aten_ops/kernels/scalar_type.h"

namespace anvil::kernels {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(int64_t value)
      : kind_(Kind::kInteger), integer_(value), real_(static_cast<double>(value)), imag_(0) {}
  Scalar(uint64_t value)
      : kind_(Kind::kUnsigned),
        integer_(static_cast<int64_t>(value)),
        real_(static_cast<double>(value)),
        imag_(0) {}
  Scalar(double value) : kind_(Kind::kFloating), integer_(0), real_(value), imag_(0) {}
  Scalar(Complex<double> value)
      : kind_(Kind::kFloating), integer_(0), real_(value.real), imag_(value.imag) {}

  // The value as a compute type. Integers keep all 64 bits; a floating value
  // becomes an integer by truncation, a complex one a real by its real part.
  template <class T>
  T to() const {
    if constexpr (is_complex<T>) {
      using Part = typename T::value_type;
      return {static_cast<Part>(real_), static_cast<Part>(imag_)};
    } else if constexpr (std::is_same_v<T, bool>) {
      return kind_ == Kind::kFloating ? real_ != 0 || imag_ != 0 : integer_ != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return kind_ == Kind::kFloating ? static_cast<T>(static_cast<int64_t>(real_))
                                      : static_cast<T>(integer_);
    } else {
      return static_cast<T>(real_);
    }
  }

 private:
  enum class Kind : int8_t { kInteger, kUnsigned, kFloating };
  Kind kind_;
  int64_t integer_;  // for kUnsigned its bits
  double real_;
  double imag_;
};

}  // namespace anvil::kernels
