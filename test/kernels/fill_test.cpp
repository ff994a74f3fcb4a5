#include "aten_ops/kernels/fill.h"

#include <cstring>

#include "test/kernels/problems.h"
#include "test/simt_checker/buffer.h"
#include "test/simt_checker/faults.h"

namespace anvil::kernels {
namespace {

using simt_checker::Buffer;

class FillTest : public simt_checker::CheckedTest {
 protected:
  template <class T>
  static void fill(const std::vector<int64_t>& shape, const Strided& out, T value) {
    Iterator iterator = make_iterator(out.dtype, shape, {out});
    Operand& operand = iterator.operands[iterator.noperands];
    for (int d = 0; d < iterator.ndim; ++d) {
      iterator.strides[iterator.noperands][d] = 0;
    }
    ++iterator.noperands;
    operand.dtype = out.dtype;
    operand.is_immediate = true;
    std::memcpy(operand.immediate, &value, sizeof(T));
    fill_kernels.fill(iterator, nullptr);
  }
};

TEST_F(FillTest, DenseOutputsOfAnySizeAndWidth) {
  for (const int64_t n : kOddSizes) {
    Buffer<double> wide("wide", n);
    fill({n}, {wide.data(), ScalarType::Double, {1}}, 1.5);
    Buffer<uint8_t> narrow("narrow", n);
    fill({n}, {narrow.data(), ScalarType::Byte, {1}}, uint8_t{7});
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(wide[i], 1.5);
      ASSERT_EQ(narrow[i], 7);
    }
  }
}

TEST_F(FillTest, EverySecondElementOnly) {
  Buffer<int32_t> out("out", std::vector<int32_t>(2 * 257, 1));
  fill({257}, {out.data(), ScalarType::Int, {2}}, int32_t{9});
  for (int64_t i = 0; i < 2 * 257; ++i) {
    ASSERT_EQ(out[i], i % 2 == 0 ? 9 : 1);
  }
}

}  // namespace
}  // namespace anvil::kernels
