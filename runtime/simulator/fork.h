// After a fork the device belongs to the parent alone.
#pragma once

namespace anvil::simulator {

// From now on, the child of a fork finds the phase kForked and device addresses
// that share nothing with the parent. Called once, before the phase leaves
// kFresh.
void watch_forks();

}  // namespace anvil::simulator
