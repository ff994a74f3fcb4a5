// How an entry point that the simulator does not have answers.
#pragma once

namespace anvil::simulator {

// Writes one line on stderr that names the function. Returns
// cudaErrorNotSupported, as the thread's last error too.
int refuse(const char* function);

// The same for the driver API, which has no last error.
int refuse_driver(const char* function);

}  // namespace anvil::simulator
