#include "runtime/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runtime/error.h"

namespace anvil::runtime {

TraceFile::TraceFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) {
    throw Error("ANVIL_TRACE=" + path + " cannot be written: " + std::strerror(errno) +
                "; name a file in a folder that exists");
  }
  write("[\n");
}

void TraceFile::write(const std::string& line) noexcept {
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      static std::atomic<bool> told{false};
      if (!told.exchange(true)) {
        std::fprintf(stderr, "anvil: ANVIL_TRACE lost events: %s\n", std::strerror(errno));
      }
      return;
    }
  }
}

std::string json(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  result += '"';
  return result;
}

std::string json_address(const void* address) {
  char text[24];
  std::snprintf(text, sizeof(text), "\"%p\"", address);
  return address == nullptr ? "null" : text;
}

}  // namespace anvil::runtime
