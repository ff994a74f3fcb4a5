#include "runtime/simulator/variables.h"

#include <map>
#include <mutex>

#include "runtime/simulator/allocations.h"
#include "runtime/simulator/copy.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/process.h"

namespace anvil::simulator {
namespace {

struct Variable {
  const char* name;
  size_t bytes;
  void* storage[kMaxDevices];  // made at first use; null before
};

constinit std::mutex mutex;
constinit std::map<const void*, Variable>* variables = nullptr;

// The variable's address on the device; zero at first, as its initial value is
// in device code that nobody reads here.
cudaError_t find(const void* symbol, int device, void** address, size_t* bytes) {
  const std::lock_guard lock(mutex);
  if (variables == nullptr) {
    return cudaErrorInvalidSymbol;
  }
  const auto found = variables->find(symbol);
  if (found == variables->end()) {
    return cudaErrorInvalidSymbol;
  }
  Variable& variable = found->second;
  *bytes = variable.bytes;
  void*& storage = variable.storage[device];
  if (storage == nullptr) {
    if (const cudaError_t code = allocate(device, variable.bytes, Origin::kVariable, &storage)) {
      return code;
    }
  }
  *address = storage;
  return cudaSuccess;
}

// `copy(variable + offset)` if count bytes fit there.
template <class Copy>
cudaError_t with_part(const void* symbol,
                      size_t count,
                      size_t offset,
                      cudaStream_t handle,
                      Copy&& copy,
                      const char* function = __builtin_FUNCTION()) {
  return api(
      [&](Thread& thread) {
        Stream* stream = resolve(handle, thread);
        if (stream == nullptr) {
          return cudaErrorInvalidResourceHandle;
        }
        void* address = nullptr;
        size_t bytes = 0;
        if (const cudaError_t code =
                find(symbol, use_device(thread.device).index, &address, &bytes)) {
          return code;
        }
        if (offset > bytes || count > bytes - offset) {
          return cudaErrorInvalidValue;
        }
        return copy(static_cast<char*>(address) + offset, *stream);
      },
      function);
}

Rectangle line(void* to, const void* from, size_t bytes) {
  return {to, from, bytes, bytes, bytes, 1};
}

}  // namespace

void add_variable(const void* host_variable, const char* name, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (variables == nullptr) {
    variables = new std::map<const void*, Variable>;
  }
  variables->emplace(host_variable, Variable{name, bytes, {}});
}

ANVIL_EXPORT cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return api([&](Thread& thread) {
    size_t bytes = 0;
    return address != nullptr ? find(symbol, use_device(thread.device).index, address, &bytes)
                              : cudaErrorInvalidValue;
  });
}

ANVIL_EXPORT cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([&](Thread& thread) {
    void* address = nullptr;
    return bytes != nullptr ? find(symbol, use_device(thread.device).index, &address, bytes)
                            : cudaErrorInvalidValue;
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpyToSymbol(
    const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_part(symbol, count, offset, nullptr, [&](void* part, Stream& stream) {
    return copy(line(part, from, count), kind, stream, true);
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void* symbol,
                                                 const void* from,
                                                 size_t count,
                                                 size_t offset,
                                                 cudaMemcpyKind kind,
                                                 cudaStream_t handle) {
  return with_part(symbol, count, offset, handle, [&](void* part, Stream& stream) {
    return copy(line(part, from, count), kind, stream, false);
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpyFromSymbol(
    void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_part(symbol, count, offset, nullptr, [&](void* part, Stream& stream) {
    return copy(line(to, part, count), kind, stream, true);
  });
}

ANVIL_EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void* to,
                                                   const void* symbol,
                                                   size_t count,
                                                   size_t offset,
                                                   cudaMemcpyKind kind,
                                                   cudaStream_t handle) {
  return with_part(symbol, count, offset, handle, [&](void* part, Stream& stream) {
    return copy(line(to, part, count), kind, stream, false);
  });
}

}  // namespace anvil::simulator
