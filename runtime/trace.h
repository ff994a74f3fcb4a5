// Every call through the table, written to a file: ANVIL_TRACE=FILE.
//
// The file is a Chrome trace (the JSON array form, which may end early), one
// event a line, so that both a viewer (ui.perfetto.dev) and a line-wise parser
// read it, also after a crash. Without ANVIL_TRACE the table holds the driver's
// own functions, and tracing costs nothing.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/export.h"
#include "runtime/table.h"

namespace anvil::runtime {

// True if ANVIL_TRACE names a file. Read once; never loads the driver.
ANVIL_RUNTIME_API bool tracing() noexcept;

// `original` with each member replaced by one that makes the call and then
// writes it. Opens the file that ANVIL_TRACE names; throws Error if it cannot be
// written. Called once, by the table's loader.
Table traced(const Table& original);

// The operators on whose behalf this thread makes its calls, outermost first:
// each event carries the outermost and the innermost one. Only while tracing;
// calls nest within a thread.
ANVIL_RUNTIME_API void enter_operator(std::string name);
ANVIL_RUNTIME_API void leave_operator() noexcept;

}  // namespace anvil::runtime
