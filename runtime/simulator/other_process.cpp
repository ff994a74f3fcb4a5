#include "runtime/simulator/other_process.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>

namespace anvil::simulator {

int open_file_of_process(pid_t process, int file) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", process, file);
  return open(path, O_RDWR | O_CLOEXEC);
}

bool is_alive(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

}  // namespace anvil::simulator
