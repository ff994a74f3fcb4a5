#include "test/simt_checker/shadow.h"

#include "test/simt_checker/ordering.h"

namespace anvil::simt_checker {
namespace {

bool races(const Access& earlier, const Access& now, const Block& block) {
  if (earlier.launch != now.launch || (earlier.is_atomic && now.is_atomic)) {
    return false;
  }
  if (earlier.block == now.block) {
    return earlier.thread != now.thread && earlier.stamp >= block.phase_begin();
  }
  return !block.is_after(earlier, now.thread);
}

bool same_thread(const Access& a, const Access& b) {
  return a.launch == b.launch && a.block == b.block && a.thread == b.thread;
}

void record_read(Cell& cell, const Access& access) {
  Access* slot = &cell.reads[0];
  if (same_thread(cell.reads[1], access)) {
    slot = &cell.reads[1];
  } else if (!same_thread(cell.reads[0], access)) {
    // Keep the younger of the two, and one of another block.
    slot = &cell.reads[cell.reads[0].stamp > cell.reads[1].stamp ? 1 : 0];
    for (Access& read : cell.reads) {
      if (read.launch != access.launch || read.block != access.block) {
        slot = &read;
      }
    }
    if (slot->launch == access.launch && slot->block != access.block) {
      cell.foreign_read = *slot;
    }
  }
  *slot = access;
}

}  // namespace

bool record(
    Cell& cell, const Access& access, bool is_write, const Block& block, Conflict* conflict) {
  bool found = false;
  const auto compare = [&](const Access& earlier, bool earlier_is_write) {
    if (!found && races(earlier, access, block)) {
      *conflict = {earlier, earlier_is_write};
      found = true;
    }
  };
  compare(cell.write, true);
  if (is_write) {
    compare(cell.reads[0], false);
    compare(cell.reads[1], false);
    compare(cell.foreign_read, false);
    cell.write = access;
  } else {
    record_read(cell, access);
  }
  return found;
}

}  // namespace anvil::simt_checker
