// What a kernel library offers: one struct of functions for each family.
//
// The glue fills kernel arguments and calls kernels::table().family.operator(...); it
// never sees which executor serves the call. Every function enqueues on the
// stream that it is given, of the current device, and returns without waiting;
// it throws runtime::Error if the launch is refused.
#pragma once

#include <cstddef>

namespace anvil::kernels {

// X(Type, name): a family, whose struct TypeKernels <name>.h declares.
#define ANVIL_FOR_EACH_KERNEL_FAMILY(X) \
  X(Activation, activation)             \
  X(Assertion, assertion)               \
  X(BatchNorm, batch_norm)              \
  X(Binary, binary)                     \
  X(Concat, concat)                     \
  X(Copy, copy)                         \
  X(Dropout, dropout)                   \
  X(Fill, fill)                         \
  X(Foreach, foreach)                   \
  X(Index, index)                       \
  X(LayerNorm, layer_norm)              \
  X(NllLoss, nll_loss)                  \
  X(Nonzero, nonzero)                   \
  X(Pointwise, pointwise)               \
  X(Pooling, pooling)                   \
  X(RadixSort, radix_sort)              \
  X(Random, random)                     \
  X(Range, range)                       \
  X(Reduce, reduce)                     \
  X(Scan, scan)                         \
  X(Softmax, softmax)                   \
  X(Sort, sort)                         \
  X(Triangular, triangular)             \
  X(Unary, unary)

#define ANVIL_DECLARE(Type, name) struct Type##Kernels;
ANVIL_FOR_EACH_KERNEL_FAMILY(ANVIL_DECLARE)
#undef ANVIL_DECLARE

// References, so that a family without its struct does not compile.
struct Table {
#define ANVIL_MEMBER(Type, name) const Type##Kernels& name;
  ANVIL_FOR_EACH_KERNEL_FAMILY(ANVIL_MEMBER)
#undef ANVIL_MEMBER
};

// The name and type of the accessor that each library exports.
inline constexpr const char* kTableAccessor = "anvil_kernel_table";
using TableAccessor = const Table* (*)(size_t table_bytes);

}  // namespace anvil::kernels

extern "C" {
// This library's table; null if the caller was built with a Table of another
// size, that is from other sources.
__attribute__((visibility("default"))) const anvil::kernels::Table* anvil_kernel_table(
    size_t table_bytes);
}
