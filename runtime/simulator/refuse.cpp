#include "runtime/simulator/refused.h"

#include "runtime/simulator/process.h"
#include "runtime/simulator/report.h"

namespace anvil::simulator {

int refuse(const char* function) {
  report("%s is not supported (docs/simulator.md lists what is)", function);
  return current_thread.last_error = cudaErrorNotSupported;
}

int refuse_driver(const char* function) {
  report("%s is not supported (docs/simulator.md lists what is)", function);
  return cudaErrorNotSupported;
}

// Returns a struct, so it cannot stand in refused.inc.
ANVIL_EXPORT cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // namespace anvil::simulator
