#include "backend/Lifecycle.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <mutex>

#include "backend/BlockingRegion.h"
#include "backend/Functions.h"
#include "runtime/error.h"
#include "runtime/table.h"

namespace anvil {
namespace {

void mark_forked() {
  if (lifecycle() == Lifecycle::kInUse) {
    detail::lifecycle.store(Lifecycle::kForked, std::memory_order_release);
  }
}

}  // namespace

namespace detail {

constinit std::atomic<Lifecycle> lifecycle{Lifecycle::kUnused};

void initialize_slow() {
  static std::mutex mutex;
  TORCH_CHECK(
      !is_in_bad_fork(),
      "Cannot re-initialize anvil in a forked subprocess: the device's state does not survive a "
      "fork. To use anvil with multiprocessing, use the 'spawn' start method: "
      "torch.multiprocessing.set_start_method('spawn') or multiprocessing_context='spawn'.");
  TORCH_CHECK(anvil::lifecycle() != Lifecycle::kEnded,
              "anvil was shut down, because the process is ending; do device work before that.");
  device_count_ensure_non_zero();
  const std::lock_guard<std::mutex> guard(mutex);
  if (anvil::lifecycle() == Lifecycle::kUnused) {
    pthread_atfork(nullptr, nullptr, &mark_forked);
    lifecycle.store(Lifecycle::kInUse, std::memory_order_release);
  }
}

}  // namespace detail

void drain() noexcept {
  Lifecycle expected = Lifecycle::kInUse;
  if (!is_usable()) {
    return;
  }
  {
    const BlockingRegion region;
    const auto& cuda = runtime::table();
    if (cuda.anvilSimulatorDrain != nullptr) {
      cuda.anvilSimulatorDrain();
    } else {
      const c10::DeviceIndex before = current_device();
      for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
        if (has_primary_context(device)) {
          runtime::ignore(cuda.cudaSetDevice(device));
          runtime::ignore(cuda.cudaDeviceSynchronize());
        }
      }
      runtime::ignore(cuda.cudaSetDevice(before));
    }
  }
  detail::lifecycle.compare_exchange_strong(expected, Lifecycle::kEnded);
}

}  // namespace anvil
