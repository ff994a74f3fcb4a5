// What happens at a memory fault.
#pragma once

#include <csetjmp>

namespace anvil::simulator {

// Handles SIGSEGV, in front of the handler that was there before:
// - host code that touches a device address: a line on stderr that names the
//   address, the device and the allocation; then the handler before, or death
//   by the signal, as without us;
// - a kernel that leaves its allocations or uses a null pointer: see
//   KernelFaults;
// - all else: only the handler before.
void install_fault_report();

// While one exists on a worker's stack, a fault of this thread in the kernel
// view jumps to `jump` (with value 1) instead of ending the process:
//   if (sigsetjmp(faults.jump, 0) == 0) { body } else { the body faulted }
// As on CUDA, what the kernel held is lost.
class KernelFaults {
 public:
  explicit KernelFaults(const char* kernel);
  ~KernelFaults();
  KernelFaults(const KernelFaults&) = delete;
  KernelFaults& operator=(const KernelFaults&) = delete;

  sigjmp_buf jump;
  const char* kernel;
};

}  // namespace anvil::simulator
