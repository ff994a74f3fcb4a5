#include "runtime/simulator/report.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace anvil::simulator {

void report(const char* format, ...) {
  char line[1024] = "anvil simulator: ";
  const size_t prefix = std::strlen(line);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + prefix, sizeof(line) - prefix - 1, format, arguments);
  va_end(arguments);
  size_t length = std::strlen(line);
  line[length++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length);
}

}  // namespace anvil::simulator
