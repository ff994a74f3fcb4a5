// What a kernel library offers: one struct of functions for each family.
//
// The glue fills kernel arguments and calls kernels().family.operator(...); it
// never sees which executor serves the call. Every function enqueues on the
// stream that it is given, of the current device, and returns without waiting;
// it throws runtime::Error if the launch is refused.
#pragma once

#include <cstddef>

namespace anvil::kernels {

struct ConcatKernels;
struct CopyKernels;
struct DropoutKernels;
struct FillKernels;
struct ForeachKernels;
struct IndexKernels;
struct NonzeroKernels;
struct RandomKernels;
struct TriangularKernels;

// References, so that a family without its struct does not compile.
struct Table {
  const ConcatKernels& concat;
  const CopyKernels& copy;
  const DropoutKernels& dropout;
  const FillKernels& fill;
  const ForeachKernels& foreach;
  const IndexKernels& index;
  const NonzeroKernels& nonzero;
  const RandomKernels& random;
  const TriangularKernels& triangular;
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
