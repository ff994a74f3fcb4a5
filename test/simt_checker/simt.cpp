// The functions that kernels see (aten_ops/kernels/simt_checked.h).
#include "aten_ops/kernels/launch_checked.h"
#include "test/simt_checker/machine.h"

namespace anvil::kernels::simt {

using simt_checker::Machine;

int thread() { return Machine::instance().thread(); }
int threads() { return Machine::instance().threads(); }
int64_t block() { return Machine::instance().block(); }
int64_t blocks() { return Machine::instance().blocks(); }
void sync_threads(Site site) { Machine::Pause()->sync_threads(site); }
void fence() { Machine::Pause()->fence(); }
void* dynamic_shared(size_t offset, size_t bytes) {
  return Machine::Pause()->dynamic_shared(offset, bytes);
}
void* static_shared_memory(const void* key, size_t bytes) {
  return Machine::Pause()->static_shared(key, bytes);
}
void shuffle(const void* value, void* result, size_t bytes, int from, Site site) {
  Machine::Pause()->shuffle(value, result, bytes, from, site);
}
void begin_atomic(const void* location) { Machine::Pause()->begin_atomic(location); }
void end_atomic() { Machine::Pause()->end_atomic(); }

void run_grid(const char* name,
              int64_t blocks,
              int threads,
              size_t shared_bytes,
              void (*body)(const void* kernel),
              const void* kernel,
              size_t kernel_bytes) {
  Machine::instance().run({name, blocks, threads, shared_bytes, body, kernel, kernel_bytes});
}

}  // namespace anvil::kernels::simt
