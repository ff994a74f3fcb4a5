// The states of the backend in this process: unused, in use, unusable after
// fork, ended. Every part asks here before it touches the driver.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/Macros.h"

namespace anvil {

enum class Lifecycle : uint8_t {
  kUnused,  // no driver call but the device count was made
  kInUse,   // the driver is initialised
  kForked,  // this process is a fork of one that used the device
  kEnded,   // drain() ran
};

namespace detail {
ANVIL_API extern std::atomic<Lifecycle> lifecycle;
ANVIL_API void initialize_slow();
}  // namespace detail

inline Lifecycle lifecycle() noexcept { return detail::lifecycle.load(std::memory_order_acquire); }

// True while resources may be given back to the driver. Destructors and
// deleters do nothing where it is false: after fork the resources belong to the
// parent, at the end of the process the driver takes them all.
inline bool is_usable() noexcept { return lifecycle() == Lifecycle::kInUse; }

// True in a process forked from one that used the device.
inline bool is_in_bad_fork() noexcept { return lifecycle() == Lifecycle::kForked; }

// Before the first use of the driver in every path that creates something.
// Throws where there is no device (with the reason), after fork (naming the
// cure) and after drain(). Any thread; costs one load afterwards.
inline void ensure_initialized() {
  if (lifecycle() != Lifecycle::kInUse) [[unlikely]] {
    detail::initialize_slow();
  }
}

// For the end of the process, from Python's atexit: waits for all queued work,
// dropping its errors, and ends the backend; what comes later is refused or
// dropped. Releases the GIL while it waits. Never throws; idempotent.
ANVIL_API void drain() noexcept;

}  // namespace anvil
