// Releases Python's GIL around waits for the device.
//
// Note [Blocking and the GIL]: libanvil does not link libpython. Work in a
// stream may need the GIL (a host function that calls Python), so a thread that
// waits for the device with the GIL held can wait for ever. Every call that may
// block therefore stands in a BlockingRegion, and no lock of ours is held when
// the region ends, since taking the GIL back may block on a thread that wants
// that lock.
#pragma once

#include "backend/Macros.h"

namespace anvil {

// What the Python extension installs. `release` gives the GIL up if the calling
// thread holds it and returns a token for `acquire`, or null if it does not.
struct GilHooks {
  void* (*release)();
  void (*acquire)(void* token);
};

// Once, while no other thread is in a BlockingRegion.
ANVIL_API void install_gil_hooks(const GilHooks& hooks) noexcept;

// While it lives, the calling thread does not hold the GIL. Does nothing where
// it does not hold it or no hooks are installed.
class ANVIL_API BlockingRegion {
 public:
  BlockingRegion() noexcept;
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  void* token_;
};

}  // namespace anvil
