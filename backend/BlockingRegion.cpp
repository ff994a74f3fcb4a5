#include "backend/BlockingRegion.h"

namespace anvil {
namespace {
constinit GilHooks gil_hooks{nullptr, nullptr};
}  // namespace

void install_gil_hooks(const GilHooks& hooks) noexcept { gil_hooks = hooks; }

BlockingRegion::BlockingRegion() noexcept
    : token_(gil_hooks.release != nullptr ? gil_hooks.release() : nullptr) {}

BlockingRegion::~BlockingRegion() {
  if (token_ != nullptr) {
    gil_hooks.acquire(token_);
  }
}

}  // namespace anvil
