#include "aten_ops/kernels/table.h"

#include "aten_ops/kernels/concat.h"
#include "aten_ops/kernels/copy.h"
#include "aten_ops/kernels/dropout.h"
#include "aten_ops/kernels/fill.h"
#include "aten_ops/kernels/foreach.h"
#include "aten_ops/kernels/index.h"
#include "aten_ops/kernels/nonzero.h"
#include "aten_ops/kernels/random.h"
#include "aten_ops/kernels/triangular.h"

namespace anvil::kernels {
namespace {

const Table table{
    .concat = concat_kernels,
    .copy = copy_kernels,
    .dropout = dropout_kernels,
    .fill = fill_kernels,
    .foreach = foreach_kernels,
    .index = index_kernels,
    .nonzero = nonzero_kernels,
    .random = random_kernels,
    .triangular = triangular_kernels,
};

}  // namespace
}  // namespace anvil::kernels

const anvil::kernels::Table* anvil_kernel_table(size_t table_bytes) {
  return table_bytes == sizeof(anvil::kernels::Table) ? &anvil::kernels::table : nullptr;
}
