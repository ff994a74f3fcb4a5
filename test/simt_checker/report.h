// What the checker finds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "aten_ops/kernels/simt_checked.h"

namespace anvil::simt_checker {

using kernels::simt::Site;

enum class Fault {
  kRace,              // two threads of a block, no barrier between them
  kBlockRace,         // two blocks, nothing that orders them
  kDivergentBarrier,  // threads of a block wait at different places, or left
  kDivergentShuffle,  // the same for the lanes of a warp
  kOutOfBounds,       // outside of every array that the kernel may reach
  kMisaligned,        // an address that is no multiple of the access's size
  kUninitialized,     // read of shared memory that the block did not write
  kReadOnly,          // write to the kernel's arguments or to constant data
  kPrivate,           // access to another thread's stack
  kLaunch,            // block size, shared memory: what CUDA would refuse
};

const char* fault_name(Fault fault);

struct Report {
  Fault fault;
  std::string kernel;   // the name given to launch
  std::string message;  // all of it: kernel, blocks, threads, what each side did, where
};

// One side of a fault.
struct Accessor {
  int64_t block;
  int thread;
  bool is_write;
  bool is_atomic;
  const void* pc;  // the return address of the access
};

// Adds a report; the same fault of a kernel at the same places counts once, and
// only then `what` is called: finding the lines of code takes long.
void add_report(Fault fault,
                const char* kernel,
                const void* first_pc,
                const void* second_pc,
                const std::function<std::string()>& what);

// All reports since the last call, in the order in which they were found.
std::vector<Report> take_reports();

// "write by thread 3 of block 0 at team_cuda.h:47"
std::string describe(const Accessor& accessor);
// Function, file and line of code of a kernel, from the debug information.
std::string describe_code(const void* pc);
// "threads 0-31, 64"; `threads` ascend.
std::string describe_threads(const std::vector<int>& threads);
std::string describe_site(const Site& site);

}  // namespace anvil::simt_checker
