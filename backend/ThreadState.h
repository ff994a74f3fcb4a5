// What the backend keeps for each thread. Inside libanvil only: every operator
// reads it several times, so it is reached without a call.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <array>

#include "backend/Functions.h"

namespace anvil::detail {

struct ThreadState {
  c10::DeviceIndex device = 0;                       // the current one
  std::array<c10::StreamId, kMaxDevices> streams{};  // current on each device, see Note [StreamId]
};

// constinit: reading it needs no check whether it was constructed.
extern constinit thread_local ThreadState thread_state;

}  // namespace anvil::detail
