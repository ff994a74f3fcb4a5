#include "runtime/simulator/kernels.h"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "runtime/simulator/process.h"
#include "runtime/simulator/stand_in.h"

namespace anvil::simulator {
namespace {

// An open hash table that only grows. Readers take no lock: a slot's key is
// published after its value.
struct Slot {
  std::atomic<const void*> function{nullptr};
  Kernel* kernel = nullptr;
};

struct Table {
  Table(size_t size, const Table* outgrown)
      : mask(size - 1), slots(new Slot[size]), outgrown(outgrown) {}
  size_t mask;
  size_t used = 0;
  Slot* slots;
  const Table* outgrown;  // a reader may still be in it
};

constexpr size_t kFirstSize = 1024;

constinit std::mutex mutex;  // writers
constinit std::atomic<Table*> table{nullptr};

size_t hash(const void* function) {
  return (reinterpret_cast<uintptr_t>(function) * 0x9e3779b97f4a7c15u) >> 20;
}

// The slot that holds the function, or the empty one where it would stand.
Slot& probe(const Table& in, const void* function) {
  for (size_t i = hash(function);; ++i) {
    Slot& slot = in.slots[i & in.mask];
    const void* key = slot.function.load(std::memory_order_acquire);
    if (key == function || key == nullptr) {
      return slot;
    }
  }
}

void insert(Table& into, const void* function, Kernel* kernel) {
  Slot& slot = probe(into, function);
  slot.kernel = kernel;
  slot.function.store(function, std::memory_order_release);
  ++into.used;
}

Table* grown(const Table* old) {
  Table* larger = new Table(old == nullptr ? kFirstSize : 2 * (old->mask + 1), old);
  for (size_t i = 0; old != nullptr && i <= old->mask; ++i) {
    if (const void* function = old->slots[i].function.load(std::memory_order_relaxed)) {
      insert(*larger, function, old->slots[i].kernel);
    }
  }
  return larger;
}

bool same(const anvilKernel& a, const anvilKernel& b) {
  return a.name == b.name && a.body == b.body && a.argument_sizes == b.argument_sizes &&
         a.argument_count == b.argument_count;
}

}  // namespace

Kernel* find_kernel(const void* function) {
  const Table* current = table.load(std::memory_order_acquire);
  if (current == nullptr || function == nullptr) {
    return nullptr;
  }
  const Slot& slot = probe(*current, function);
  return slot.function.load(std::memory_order_acquire) == function ? slot.kernel : nullptr;
}

Kernel* add_kernel(const void* function, const char* name) {
  const std::lock_guard lock(mutex);
  if (Kernel* known = find_kernel(function)) {
    return known;
  }
  Table* current = table.load(std::memory_order_relaxed);
  if (current == nullptr || 2 * current->used > current->mask) {
    current = grown(current);
    table.store(current, std::memory_order_release);
  }
  Kernel* kernel = new Kernel;
  kernel->name = name;
  insert(*current, function, kernel);
  return kernel;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

ANVIL_EXPORT void anvilSimulatorForEachCountedKernel(
    void (*visit)(const char* name, uint64_t launches, void* data), void* data) {
  const Table* current = table.load(std::memory_order_acquire);
  for (size_t i = 0; current != nullptr && i <= current->mask; ++i) {
    if (current->slots[i].function.load(std::memory_order_acquire) == nullptr) {
      continue;
    }
    const Kernel& kernel = *current->slots[i].kernel;
    if (const uint64_t launches = kernel.counted.load(std::memory_order_relaxed)) {
      visit(demangled(kernel.name).c_str(), launches, data);
    }
  }
}

ANVIL_EXPORT cudaError_t anvilSimulatorRegisterKernel(const void* function,
                                                      const anvilKernel* kernel) {
  if (function == nullptr || kernel == nullptr || kernel->body == nullptr ||
      kernel->name == nullptr ||
      (kernel->argument_count > 0 && kernel->argument_sizes == nullptr)) {
    return current_thread.last_error = cudaErrorInvalidValue;
  }
  std::atomic<const anvilKernel*>& host = add_kernel(function, kernel->name)->host;
  const anvilKernel* known = host.load();
  if (known != nullptr && same(*known, *kernel)) {
    return cudaSuccess;
  }
  // The caller's struct may be a temporary. What it replaces may be running.
  host.store(new anvilKernel(*kernel));
  return cudaSuccess;
}

}  // namespace anvil::simulator
