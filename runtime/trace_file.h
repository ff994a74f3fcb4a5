// The file behind ANVIL_TRACE, and the text of one event.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace anvil::runtime {

// Appends lines to one file from any thread and from forked children: each line
// is one write(2) to a descriptor opened with O_APPEND, so lines do not mix.
class TraceFile {
 public:
  // Truncates `path`. Throws Error if it cannot be written.
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // A full disk ends the trace with one line on stderr, not the program.
  void write(const std::string& line) noexcept;

 private:
  int descriptor_;
};

// A JSON value.
std::string json(std::string_view text);  // quoted and escaped
inline std::string json(const char* text) {
  return text == nullptr ? "null" : json(std::string_view(text));
}
inline std::string json(const dim3& value) {
  std::string text = "[";
  text += std::to_string(value.x) + ',' + std::to_string(value.y) + ',' + std::to_string(value.z);
  text += ']';
  return text;
}
std::string json_address(const void* address);  // "0x7f..."
template <class T>
  requires std::is_arithmetic_v<T>
std::string json(T value) {
  return std::to_string(value);
}
template <class T>
  requires std::is_enum_v<T>
std::string json(T value) {
  return std::to_string(static_cast<long long>(value));
}
template <class T>
  requires(!std::is_same_v<std::remove_cv_t<T>, char>)
std::string json(T* pointer) {
  if constexpr (std::is_function_v<T>) {
    return json_address(reinterpret_cast<const void*>(pointer));
  } else {
    return json_address(pointer);
  }
}

}  // namespace anvil::runtime
