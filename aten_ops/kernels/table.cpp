#include "aten_ops/kernels/table.h"

#include "aten_ops/kernels/copy.h"
#include "aten_ops/kernels/fill.h"
#include "aten_ops/kernels/foreach.h"

namespace anvil::kernels {
namespace {

const Table table{
    .copy = copy_kernels,
    .fill = fill_kernels,
    .foreach = foreach_kernels,
};

}  // namespace
}  // namespace anvil::kernels

const anvil::kernels::Table* anvil_kernel_table(size_t table_bytes) {
  return table_bytes == sizeof(anvil::kernels::Table) ? &anvil::kernels::table : nullptr;
}
