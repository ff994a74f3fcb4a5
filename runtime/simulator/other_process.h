// What another process of this machine lends to this one.
#pragma once

#include <sys/types.h>

namespace anvil::simulator {

// A new descriptor of the file that `process` has open as `file`; the caller
// closes it. Negative if the process is gone or not ours to read.
int open_file_of_process(pid_t process, int file);

// False once the process has ended.
bool is_alive(pid_t process);

}  // namespace anvil::simulator
