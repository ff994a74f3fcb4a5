#include "aten_ops/kernels/table.h"

#include "aten_ops/kernels/activation.h"
#include "aten_ops/kernels/assertion.h"
#include "aten_ops/kernels/batch_norm.h"
#include "aten_ops/kernels/binary.h"
#include "aten_ops/kernels/concat.h"
#include "aten_ops/kernels/copy.h"
#include "aten_ops/kernels/dropout.h"
#include "aten_ops/kernels/fill.h"
#include "aten_ops/kernels/foreach.h"
#include "aten_ops/kernels/index.h"
#include "aten_ops/kernels/layer_norm.h"
#include "aten_ops/kernels/nll_loss.h"
#include "aten_ops/kernels/nonzero.h"
#include "aten_ops/kernels/pointwise.h"
#include "aten_ops/kernels/pooling.h"
#include "aten_ops/kernels/radix_sort.h"
#include "aten_ops/kernels/random.h"
#include "aten_ops/kernels/range.h"
#include "aten_ops/kernels/reduce.h"
#include "aten_ops/kernels/scan.h"
#include "aten_ops/kernels/softmax.h"
#include "aten_ops/kernels/sort.h"
#include "aten_ops/kernels/triangular.h"
#include "aten_ops/kernels/unary.h"

namespace anvil::kernels {
namespace {

const Table table{
#define ANVIL_MEMBER(Type, name) .name = name##_kernels,
    ANVIL_FOR_EACH_KERNEL_FAMILY(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

}  // namespace
}  // namespace anvil::kernels

const anvil::kernels::Table* anvil_kernel_table(size_t table_bytes) {
  return table_bytes == sizeof(anvil::kernels::Table) ? &anvil::kernels::table : nullptr;
}
