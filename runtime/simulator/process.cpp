#include "runtime/simulator/process.h"

#include <cstdio>
#include <mutex>

#include "runtime/simulator/address_space.h"
#include "runtime/simulator/device.h"
#include "runtime/simulator/fault_report.h"
#include "runtime/simulator/fork.h"
#include "runtime/simulator/memory.h"
#include "runtime/simulator/report.h"
#include "runtime/simulator/stand_in.h"

namespace anvil::simulator {

constinit std::atomic<Phase> phase{Phase::kFresh};
constinit Config config{};
thread_local constinit Thread current_thread{};

namespace {

constinit std::mutex initialisation;
constinit char why[512] = "";

Phase start() {
  if (!read_config(&config, why, sizeof(why))) {
    return Phase::kRefused;
  }
  if (config.devices == 0) {
    return Phase::kNoDevice;
  }
  if (!reserve_address_space(&config, why, sizeof(why))) {
    return Phase::kRefused;
  }
  make_memory();
  make_devices(config);
  install_fault_report();
  return Phase::kReady;
}

}  // namespace

const char* refusal() {
  switch (phase.load(std::memory_order_acquire)) {
    case Phase::kRefused:
      return why;
    case Phase::kForked:
      return "this process was forked from one that had used the device; start it with "
             "'spawn' or 'forkserver', or use the device only after the fork";
    default:
      return nullptr;
  }
}

cudaError_t initialise() {
  if (phase.load(std::memory_order_acquire) == Phase::kFresh) {
    const std::lock_guard lock(initialisation);
    if (phase.load(std::memory_order_relaxed) == Phase::kFresh) {
      const Phase reached = start();
      watch_forks();
      if (reached == Phase::kRefused) {
        report("%s", why);
      }
      phase.store(reached, std::memory_order_release);
    }
  }
  switch (phase.load(std::memory_order_acquire)) {
    case Phase::kReady:
      return cudaSuccess;
    case Phase::kNoDevice:
      return cudaErrorNoDevice;
    default:
      return cudaErrorInitializationError;
  }
}

ANVIL_EXPORT int anvilSimulatorDeviceCount() {
  int devices = Config{}.devices;
  return read_device_count(&devices) ? devices : -1;
}

}  // namespace anvil::simulator
