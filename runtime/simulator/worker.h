// Worker threads: who runs what is ready.
#pragma once

namespace anvil::simulator {

struct Stream;

// Adversarial schedule: decides how long a stream that has become ready is held
// back. Needs the engine's lock.
void hold(Stream& stream);

}  // namespace anvil::simulator
