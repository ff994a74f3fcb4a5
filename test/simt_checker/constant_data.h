// Data of the program that kernels may read: tables, literals.
#pragma once

namespace anvil::simt_checker {

// Whether `address` is in a segment of the program or of a library it has loaded.
bool is_constant_data(const void* address);

}  // namespace anvil::simt_checker
