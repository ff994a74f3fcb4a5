// Shadow memory: for each byte, who touched it last, and the rule that says
// whether two accesses race.
//
// Within a block two accesses race if different threads make them with no
// barrier between, one writes, and not both are atomic. Between blocks they race
// wherever they are in time, unless something orders them (ordering.h). A launch
// is ordered after the one before it.
#pragma once

#include <cstdint>

namespace anvil::simt_checker {

class Block;

// One access. `stamp` is the clock of its block.
struct Access {
  uint32_t launch = 0;  // 0: none
  uint32_t block = 0;
  uint32_t stamp = 0;
  uint16_t thread = 0;
  bool is_atomic = false;
  const void* pc = nullptr;
};

// The last accesses to one byte. Two readers of the block that runs are enough
// to find one that differs from any writer; one of another block likewise.
struct Cell {
  Access write;
  Access reads[2];
  Access foreign_read;
};

struct Conflict {
  Access other;
  bool other_is_write;
};

// Enters an access of `block` into a cell. True if it races with an earlier one,
// which is then in *conflict.
bool record(
    Cell& cell, const Access& access, bool is_write, const Block& block, Conflict* conflict);

}  // namespace anvil::simt_checker
