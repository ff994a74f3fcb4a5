// What the stand-ins of ../stock ask the simulator for, by name. Apart from
// extension.h, which is for those who provide kernels.
#pragma once

#include <stdint.h>

extern "C" {

// Calls `visit` for each kernel without a host body that was launched while
// ANVIL_SIMULATOR_KERNELS=count; `name` is demangled, and valid during the call.
void anvilSimulatorForEachCountedKernel(
    void (*visit)(const char* name, uint64_t launches, void* data), void* data);

// The number of devices that the environment asks for; -1 if it is not allowed.
// Does not start the simulator, so that a process may ask before it forks.
int anvilSimulatorDeviceCount(void);
}
